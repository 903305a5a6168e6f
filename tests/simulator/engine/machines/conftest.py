"""A real control plane with kwok and the machines, shared by the tests of this folder; each test has a namespace."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Namespace, Node, Pod
from lightkube.types import CascadeType

from rehearsal.azure.machines import node, node_name
from rehearsal.control_plane import WITH_KWOK, ControlPlane, RunFolder
from rehearsal.faults import machine_faults
from rehearsal.tools.paths import PROJECT
from rehearsal.watch.kinds import DEFINED_BY, RESOURCES
from tests.rehearsal.simulated_nodes import GPU_POOL, H100, gpu_and_system_nodes, pool_facts
from tests.rehearsal.waiting import eventually

SPEED = 60.0
ON_AKS = {"nodeSelector": {"kubernetes.azure.com/agentpool": "ndaks"}}
"""The node selector of a DaemonSet for `machine_of_aks`."""


@dataclass
class Rehearsed:
    """The cluster under test, and a separate namespace for the test."""

    client: Client
    run: RunFolder
    namespace: str
    control_plane: ControlPlane
    pool: str = GPU_POOL.pool["name"]
    """The default pool of DaemonSets."""

    def create(self, document: dict[str, Any]) -> None:
        """Create an object in the test's namespace."""
        self.client.create(codecs.from_dict(self._in_namespace(document)))

    def _in_namespace(self, document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "metadata": {**document["metadata"], "namespace": self.namespace}}

    def daemon_set(self, name: str, labels: dict[str, str], **spec: Any) -> None:
        """A DaemonSet with one container on the machines of `pool`, unless a node selector says otherwise."""
        template = {
            "nodeSelector": {"kubernetes.azure.com/agentpool": self.pool},
            "containers": [{"name": "main", "image": "registry.invalid/main"}],
            **spec,
        }
        self.create(
            {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": {"name": name},
                "spec": {
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels}, "spec": template},
                },
            }
        )

    def config_map(self, name: str, data: dict[str, str]) -> None:
        """Create or replace a ConfigMap."""
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        self.client.apply(codecs.from_dict(self._in_namespace(document)), field_manager="test", force=True)

    def job(self, name: str, container: dict[str, Any], *, spec: dict[str, Any] | None = None, **pod: Any) -> None:
        """A Job with one container."""
        template = {
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "registry.invalid/main"} | container],
        }
        document = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"backoffLimit": 0, "template": {"spec": template | pod}} | (spec or {}),
        }
        self.create(document)

    def pods(self, **labels: str) -> list[dict[str, Any]]:
        """Pods of the test's namespace, as documents."""
        wanted: dict[str, Any] = {**labels}
        found = self.client.list(Pod, namespace=self.namespace, labels=wanted)
        return [pod.to_dict() for pod in found]

    def node(self, name: str) -> dict[str, Any]:
        """A node, as a document."""
        return self.client.get(Node, name).to_dict()

    def allocatable(self, name: str, resource: str) -> str | None:
        """The amount of a resource that a node offers."""
        amount: str | None = self.node(name)["status"]["allocatable"].get(resource)
        return amount

    def fault(self, name: str, **where: Any) -> None:
        """Break machines, as a rehearsed stack's `fault` does."""
        machine_faults.write(self.run.root, [*machine_faults.read(self.run.root), {"fault": name, **where}])

    def mend(self) -> None:
        """Take every fault away."""
        machine_faults.write(self.run.root, [])

    def clear(self) -> None:
        """Take away whatever runs in the test's namespace."""
        for kind in (DaemonSet, Deployment, Job, Pod):
            self.client.deletecollection(kind, namespace=self.namespace, cascade=CascadeType.BACKGROUND)
        self.eventually(lambda: not self.pods())

    def eventually(self, question: Callable[[], Any], *, seconds: float = 120) -> Any:
        """The first true answer to a question about the cluster."""
        return eventually(question, seconds=seconds, check=self.control_plane.check)


@pytest.fixture(scope="package")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    folder: Path = tmp_path_factory.mktemp("machines") / "run"
    with ControlPlane.start(folder, speed=SPEED, parts=(*WITH_KWOK, "machines")) as running:
        client = Client(config=KubeConfig.from_file(running.kubeconfig), trust_env=False)
        for document in (_NODE_FEATURE_RULES, *_network_definitions(), *gpu_and_system_nodes()):
            client.create(codecs.from_dict(document))
        yield running


@pytest.fixture
def cluster(control_plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[Rehearsed]:
    client = Client(config=KubeConfig.from_file(control_plane.kubeconfig), trust_env=False)
    namespace = f"t{abs(hash(request.node.name)) % 10**8}"
    client.create(codecs.from_dict({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}))
    rehearsed = Rehearsed(client, control_plane.run, namespace, control_plane)
    # The objects that the test's pods need in the namespace.
    rehearsed.eventually(lambda: _exists(client, ConfigMap, "kube-root-ca.crt", namespace))
    yield rehearsed
    rehearsed.mend()
    rehearsed.clear()
    client.deletecollection(RESOURCES["NodeFeatureRule"])
    client.delete(Namespace, namespace)


@pytest.fixture
def own_machine(cluster: Rehearsed) -> Iterator[str]:
    """A machine that no other test has changed, in a separate pool; changes of a host stay."""
    pool = pool_facts(f"nd{cluster.namespace[:8]}", H100, fabric=f"placement-group-of-{cluster.namespace}")
    name = node_name(pool, 0)
    cluster.client.create(codecs.from_dict(node(pool, 0, 9)))
    cluster.pool = pool.pool["name"]
    yield name
    cluster.clear()  # before the machine is gone, and with it who would end its pods
    cluster.client.delete(Node, name)


@pytest.fixture
def machine_of_aks(cluster: Rehearsed) -> Iterator[str]:
    """A machine on which Azure has installed the GPU driver."""
    pool = pool_facts("ndaks", H100, fabric="placement-group-of-ndaks", gpu_driver="Install")
    cluster.client.create(codecs.from_dict(node(pool, 0, 7)))
    yield node_name(pool, 0)
    cluster.clear()
    cluster.client.delete(Node, node_name(pool, 0))


def _exists(client: Client, kind: Any, name: str, namespace: str) -> bool:
    try:
        client.get(kind, name, namespace=namespace)
    except ApiError:
        return False
    return True


def _network_definitions() -> list[dict[str, Any]]:
    """The definitions of attachments and address pools, as chart and operator bring them."""
    return [document for file in _NETWORK_DEFINITIONS for document in yaml.safe_load_all(file.read_text())]


_NETWORK_DEFINITIONS = (
    PROJECT / "rehearsal/charts/network-operator/crds/k8s.cni.cncf.io_network-attachment-definitions.yaml",
    PROJECT / "rehearsal/operators/crds/nv-ipam.yaml",
)
_NODE_FEATURE_RULES = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": DEFINED_BY["NodeFeatureRule"]},
    "spec": {
        "group": "nfd.k8s-sigs.io",
        "scope": "Cluster",
        "names": {"kind": "NodeFeatureRule", "plural": "nodefeaturerules"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}
