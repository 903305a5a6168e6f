"""The findings of executed pods on prepared and other machines: limits, modules, device nodes; on a real API server."""

from typing import Any

import pytest
from lightkube.resources.batch_v1 import Job
from lightkube.types import CascadeType

from .conftest import Rehearsed
from .jobs import output, python

pytestmark = pytest.mark.usefixtures("own_machine")

LIMIT = "print(next(line.split()[3] for line in open('/proc/self/limits') if line.startswith('Max locked')))"
DEVICES = (
    "import os; print(*sorted(os.listdir('/dev/infiniband') if os.path.isdir('/dev/infiniband') else []), sep=',')"
)
MOUNTED = "import os; print(*sorted(os.listdir('/host/infiniband')), sep=',')"
MODULES = "import os; print('nvidia_peermem' in os.listdir('/sys/module'), 'ib_umad' in open('/proc/modules').read())"
HOST_DEVICES = {
    "volumes": [{"name": "devices", "hostPath": {"path": "/dev/infiniband"}}],
    "mounts": [{"name": "devices", "mountPath": "/host/infiniband"}],
}


def printed(cluster: Rehearsed, program: str, *, mounts: bool = False, **security: Any) -> str:
    """The output of a pod on the machine."""
    container = python(program, securityContext=security)
    volumes: dict[str, Any] = {}
    if mounts:
        container["volumeMounts"], volumes = HOST_DEVICES["mounts"], {"volumes": HOST_DEVICES["volumes"]}
    cluster.job("look", container, nodeSelector={"kubernetes.azure.com/agentpool": cluster.pool}, **volumes)

    def done() -> list[dict[str, Any]]:
        labels = {"batch.kubernetes.io/job-name": "look"}
        return [pod for pod in cluster.pods(**labels) if pod["status"].get("phase") in {"Succeeded", "Failed"}]

    pod = cluster.eventually(done)[0]
    assert pod["status"]["phase"] == "Succeeded", output(cluster, pod)
    text = output(cluster, pod).strip()
    cluster.client.delete(Job, "look", namespace=cluster.namespace, cascade=CascadeType.BACKGROUND)
    cluster.eventually(lambda: not cluster.pods(**{"batch.kubernetes.io/job-name": "look"}))
    return text


def prepare(cluster: Rehearsed, script: str) -> None:
    """The DaemonSet that prepares nodes, once its pods are ready."""
    label = {"app.kubernetes.io/name": "node-preparation"}
    cluster.daemon_set("preparation", label, containers=[{"name": "prepare", "image": "x", "args": [script]}])
    cluster.eventually(lambda: len(cluster.pods()) == 1 and all(is_ready(pod) for pod in cluster.pods()))


def is_ready(pod: dict[str, Any]) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod["status"].get("conditions", [])
    )


def test_locked_memory_is_8_mib_for_root_and_others_until_the_nodes_are_prepared(
    cluster: Rehearsed,
) -> None:
    assert printed(cluster, LIMIT) == str(8 * 2**20)
    assert printed(cluster, LIMIT, runAsUser=1000) == str(8 * 2**20)
    prepare(cluster, "echo LimitMEMLOCK=infinity > /host/etc/systemd/system/containerd.service.d/10-memlock.conf")
    assert printed(cluster, LIMIT) == "unlimited"
    assert printed(cluster, LIMIT, runAsUser=1000) == "unlimited"


def test_a_privileged_pod_sees_the_machines_devices_and_another_none(cluster: Rehearsed) -> None:
    uverbs = ",".join(f"uverbs{n}" for n in range(9))
    assert printed(cluster, DEVICES) == ""
    assert printed(cluster, DEVICES, privileged=True) == uverbs
    assert printed(cluster, MOUNTED, mounts=True) == ""
    assert printed(cluster, MOUNTED, mounts=True, privileged=True) == uverbs


def test_modules_bring_their_device_nodes(cluster: Rehearsed) -> None:
    assert printed(cluster, MODULES) == "False False"
    prepare(cluster, "modprobe ib_umad && modprobe rdma_ucm")
    devices = printed(cluster, DEVICES, privileged=True).split(",")
    assert {"rdma_cm", "umad0", "issm0", "uverbs0"} <= set(devices)
    assert printed(cluster, MODULES) == "False True"


def test_peermem_is_loaded_by_its_daemon_set_once_there_is_a_driver(cluster: Rehearsed) -> None:
    cluster.daemon_set("peermem", {"app.kubernetes.io/name": "nvidia-peermem"})
    cluster.eventually(lambda: len(cluster.pods()) == 1)
    assert printed(cluster, MODULES).startswith("False")
    cluster.daemon_set("driver", {"app": "nvidia-driver-daemonset"})
    cluster.eventually(lambda: len(cluster.pods()) == 2 and all(is_ready(pod) for pod in cluster.pods()))
    assert printed(cluster, MODULES).startswith("True")
