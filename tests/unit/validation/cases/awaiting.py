"""Awaiting the nodes of a pool."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.validation.payload.await_nodes import Patience, Promise, await_nodes
from aks_infiniband.validation.payload.talk.api import ApiError

from tests.cases import GONE, Case, patched

_PROMISE: Final = Promise("ndh100", 2, {"nvidia.com/gpu": 8, "rdma/shared_ib": 1}, {})
_PATIENCE: Final = Patience(poll_seconds=10, stable_seconds=30, timeout_seconds=300)


class _Clock:
    """Time that passes only during a sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def outcome_of_wait(case: Case) -> dict[str, Any]:
    """Looks at nodes n0 and n1, the last of them for ever: each has the differences from good nodes, or the status of
    an answer without any, and `times` if it comes several times. `promise` and `patience` have what differs.
    """
    clock = _Clock()
    remaining = [each for each in case.get("looks", [{}]) for _ in range(_times(each))]

    def look() -> list[Any]:
        seen = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if isinstance(seen, int):
            raise ApiError("GET /api/v1/nodes", seen, "forbidden")
        changes = {"n0": {}, "n1": {}} | {key: value for key, value in seen.items() if key != "times"}
        return [patched(_node(name), change) for name, change in changes.items() if change != GONE]

    promise, patience = _PROMISE._replace(**case.get("promise", {})), _PATIENCE._replace(**case.get("patience", {}))
    late = await_nodes(look, promise, patience, clock=clock, sleep=clock.sleep)
    return {"late": late, "seconds": clock.now}


def _times(seen: Any) -> int:
    return int(seen.get("times", 1)) if isinstance(seen, Mapping) else 1


def _node(name: str) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True", "reason": "KubeletNotReady"}
    allocatable = {"cpu": "95", "nvidia.com/gpu": "8", "rdma/shared_ib": "63"}
    return {"metadata": {"name": name}, "spec": {}, "status": {"conditions": [ready], "allocatable": allocatable}}


FAMILIES: Final = {"await": outcome_of_wait}
