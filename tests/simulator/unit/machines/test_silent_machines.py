"""Pods of a machine that was silent for a while, as when this computer slept."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from rehearsal.machines.pods.running import RunningPod, now
from rehearsal.machines.pods.status import ContainerView, is_ready, running
from rehearsal.watch.cluster import Cluster

POD: dict[str, Any] = {
    "metadata": {"name": "driver", "namespace": "ns", "uid": "u", "resourceVersion": "1"},
    "spec": {"nodeName": "n0", "containers": []},
    "status": {"podIP": "10.0.0.1"},
}


@dataclass
class ApiServer:
    """Takes the status of the one pod; each change has the next version."""

    document: dict[str, Any]
    writes: int = 0
    to_dict: Any = field(init=False)

    def __post_init__(self) -> None:
        self.to_dict = lambda: self.document

    def change(self, status: Mapping[str, Any]) -> dict[str, Any]:
        version = str(int(self.document["metadata"]["resourceVersion"]) + 1)
        metadata = {**self.document["metadata"], "resourceVersion": version}
        self.document = {**self.document, "metadata": metadata, "status": {**self.document["status"], **status}}
        return self.document

    async def patch(self, _kind: Any, _name: str, patch: Mapping[str, Any], **_: Any) -> "ApiServer":
        self.writes += 1
        self.change(patch["status"])
        return self


@pytest.mark.parametrize(("answers", "comes_back"), [("True", True), ("Unknown", False)], ids=["answers", "silent"])
def test_a_pod_that_was_called_unready_is_ready_again_once_its_machine_answers(answers: str, comes_back: bool) -> None:
    async def live() -> tuple[bool, int]:
        server = ApiServer(POD)
        cluster = Cluster(server, ["Pod", "Node"])  # type: ignore[arg-type]
        node = {"metadata": {"name": "n0"}, "status": {"conditions": [{"type": "Ready", "status": answers}]}}
        cluster.of("Node")["", "n0"] = node
        pod = RunningPod(cluster=cluster, document=POD)
        view = ContainerView(name="c", image="i", state=running(now()))
        view.ready = view.started = True
        pod.containers = [view]
        await pod.report()
        assert is_ready(server.document)

        called = [{"type": "Ready", "status": "False"}]
        pod.seen(server.change({"conditions": called}), gone=False)
        for _ in range(20):
            await asyncio.sleep(0)
        return is_ready(server.document), server.writes

    assert asyncio.run(live()) == (comes_back, 2 if comes_back else 1)
