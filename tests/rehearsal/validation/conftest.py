"""A real control plane, machines, and the real engine, which validates pools of two machines each."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.diagnosis.collect import collect
from aks_infiniband.diagnosis.view import View
from lightkube import Client, KubeConfig, codecs
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Node, Pod

from rehearsal.azure.machines import node, node_name
from rehearsal.control_plane import WITH_KWOK, ControlPlane
from rehearsal.engine.pulumi import Engine
from tests.rehearsal.engine_runs import Outcome, engine_on, run
from tests.rehearsal.simulated_nodes import H100, SYSTEM_POOL, pool_facts
from tests.rehearsal.validation.measured import Make
from tests.rehearsal.validation.pods import Pods
from tests.rehearsal.waiting import eventually
from tests.unit.validation.fake_api import FakeApi

SPEED = 60.0
PROGRAM = Path(__file__).with_name("program")


def driver(pool: str) -> dict[str, Any]:
    """The DaemonSet of the NIC driver on one pool's machines, which loads the modules that device plugins look for."""
    document = device_plugin(f"mofed-{pool}", "mofed", pool, None)
    document["spec"]["template"]["metadata"]["labels"]["nvidia.com/ofed-driver"] = ""
    return document


def gpu_driver(pool: str) -> dict[str, Any]:
    """The DaemonSet of the GPUs' driver, with the container that loads nvidia-peermem."""
    document = device_plugin(f"nvidia-driver-{pool}", "nvidia-driver-daemonset", pool, None)
    document["spec"]["template"]["spec"]["containers"] = [
        {"name": name, "image": "registry.invalid/driver"} for name in ("nvidia-driver-ctr", "nvidia-peermem-ctr")
    ]
    return document


def device_plugin(name: str, app: str, pool: str, config: str | None) -> dict[str, Any]:
    """A device plugin's DaemonSet on one pool's machines, with its ConfigMap mounted if it has one."""
    spec: dict[str, Any] = {
        "nodeSelector": {"agentpool": pool},
        "containers": [{"name": "plugin", "image": "registry.invalid/plugin"}],
    }
    if config:
        spec["volumes"] = [{"name": "config", "configMap": {"name": config}}]
        spec["containers"][0]["volumeMounts"] = [{"name": "config", "mountPath": "/config"}]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "network-operator"},
        "spec": {
            "selector": {"matchLabels": {"app": app, "pool": pool}},
            "template": {"metadata": {"labels": {"app": app, "pool": pool}}, "spec": spec},
        },
    }


@dataclass(frozen=True)
class Validated:
    """The cluster under test, and the engine that validates pools in it."""

    control_plane: ControlPlane
    client: Client
    folder: Path
    program: dict[str, Any] = field(default_factory=lambda: {"nodes": 2, "gpu_driver": "operator", "poll": 0.2})
    """The program's arguments on the pool, without its name: nodes, the owner of GPUs' drivers, seconds between two
    looks.
    """

    def apply(self, *documents: dict[str, Any]) -> None:
        """Create objects, or change them."""
        for document in documents:
            self.client.apply(codecs.from_dict(document), field_manager="test", force=True)

    def pool(self, name: str, *, fabrics: tuple[str, str], vendor: str = "15b3") -> None:
        """Two machines of a pool, with both device plugins; the RDMA one selects devices of a vendor."""
        others = len(list(self.client.list(Node)))
        for number, fabric in enumerate(fabrics):
            self.apply(node(pool_facts(name, H100, fabric=fabric), number, others + number))
        self.apply(driver(name), gpu_driver(name))
        self.rdma_plugin(name, vendor)
        # Operators keep the device plugin waiting until the driver is there; here it does not wait.
        eventually(lambda: self._drivers(name) == len(fabrics))
        self.apply(device_plugin(f"nvidia-{name}", "nvidia-device-plugin-daemonset", name, None))

    def _drivers(self, pool: str) -> int:
        """The number of a pool's GPU driver pods that are ready."""
        labels: Any = {"app": "nvidia-driver-daemonset", "pool": pool}
        pods = [pod.to_dict() for pod in self.client.list(Pod, namespace="network-operator", labels=labels)]
        conditions = [condition for pod in pods for condition in pod.get("status", {}).get("conditions", [])]
        return sum(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)

    @staticmethod
    def machines(pool: str) -> tuple[str, str]:
        """The names of a pool's two machines."""
        facts = pool_facts(pool, H100)
        return node_name(facts, 0), node_name(facts, 1)

    def pods(self, namespace: str) -> list[str]:
        """Names of the pods of a namespace."""
        return [str(pod.metadata.name) for pod in self.client.list(Pod, namespace=namespace) if pod.metadata]

    def pass_deadline(self, namespace: str) -> None:
        """Let the deadline of a namespace's Jobs pass, and wait until their pods are deleted."""
        for job in self.client.list(Job, namespace=namespace):
            if job.metadata:
                spec = {"spec": {"activeDeadlineSeconds": 1}}
                self.client.patch(Job, str(job.metadata.name), spec, namespace=namespace)
        eventually(lambda: not self.pods(namespace))

    def look(self, namespace: str) -> View:
        """A diagnosis' view."""
        return collect(self.control_plane.kubeconfig.read_text(), [namespace], limit_seconds=60)

    def rdma_plugin(self, pool: str, vendor: str) -> None:
        """The RDMA device plugin of a pool, as the Network Operator would configure it for a vendor."""
        entry = {"resourceName": "shared_ib", "rdmaHcaMax": 63}
        selectors = {"vendors": [vendor], "linkTypes": ["infiniband"]}
        config = {"configList": [{**entry, "selectors": selectors}]}
        self.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": f"rdma-{vendor}", "namespace": "network-operator"},
                "data": {"config.json": json.dumps(config)},
            },
            device_plugin(f"rdma-{pool}", "rdma-shared-dp", pool, f"rdma-{vendor}"),
        )

    def engine(self, pool: str, mode: str, timeout: float) -> Engine:
        """The engine on a separate stack for each pool."""
        kubeconfig = self.control_plane.kubeconfig.read_text()
        given = {"pool": pool, "mode": mode, "timeout": timeout, "kubeconfig": kubeconfig, **self.program}
        environment = {**self.control_plane.environment, "VALIDATION_REHEARSAL": json.dumps(given)}
        return engine_on(PROGRAM, folder=self.folder / pool, stack=pool, environment=environment)

    def run(self, command: str, pool: str, *flags: str, mode: str = "enforce", timeout: float = 240) -> Outcome:
        """Run `preview`, `up` or `destroy` to its end."""
        return run(self.engine(pool, mode, timeout), command, *flags)

    def log_of_updates(self, pool: str) -> Path:
        """The engine's log of a pool's update while it runs; until the next one begins it is the last one's."""
        return self.folder / pool / "up.events.jsonl"

    def report(self, pool: str) -> dict[str, Any]:
        """The stack's output after an update that succeeded."""
        report: dict[str, Any] = self.engine(pool, "enforce", 240).outputs()["report"]
        return report


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validated]:
    folder = tmp_path_factory.mktemp("validation")
    with ControlPlane.start(folder / "run", speed=SPEED, parts=(*WITH_KWOK, "machines")) as running:
        client = Client(config=KubeConfig.from_file(running.kubeconfig), trust_env=False)
        cluster = Validated(running, client, folder / "stacks")
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "network-operator"}})
        cluster.apply(node(SYSTEM_POOL, 0, 0))
        yield cluster


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Make]:
    """Makes the pods of a pool."""
    with FakeApi() as api:
        yield lambda pool, *faults, **others: Pods(tmp_path, pool, api, faults=list(faults), **others)
