"""Jobs of the tests, on one node, and what became of their pods."""

from typing import Any

from lightkube.resources.core_v1 import Event

from tests.rehearsal.simulated_nodes import GPU_NODES

from .conftest import Rehearsed

NODE = GPU_NODES[0]
ON_NODE = {"nodeSelector": {"kubernetes.io/hostname": NODE}}


def python(program: str, *arguments: str, **container: Any) -> dict[str, Any]:
    return {"command": ["python3", "-c", program, *arguments], **container}


def only_pod(cluster: Rehearsed) -> dict[str, Any]:
    return cluster.pods()[0]


def finished(cluster: Rehearsed) -> dict[str, Any]:
    """The test's pod, once it has ended."""
    cluster.eventually(lambda: [pod for pod in cluster.pods() if pod["status"]["phase"] in {"Succeeded", "Failed"}])
    return only_pod(cluster)


def ended(pod: dict[str, Any], name: str = "main") -> dict[str, Any]:
    statuses = pod["status"]["containerStatuses"] + pod["status"].get("initContainerStatuses", [])
    return next(status["state"]["terminated"] for status in statuses if status["name"] == name)


def output(cluster: Rehearsed, pod: dict[str, Any], name: str = "main") -> str:
    log = cluster.run.logs / "pods" / f"{cluster.namespace}_{pod['metadata']['name']}_{name}.log"
    return log.read_text()


def events(cluster: Rehearsed) -> list[str]:
    """The events of the test's pods."""
    return [event.message or "" for event in cluster.client.list(Event, namespace=cluster.namespace)]
