"""Awaiting ends well only when every node has offered everything for a while, and otherwise says who lacks what."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.await_nodes import Patience, Promise, await_nodes, laggards
from aks_infiniband.validation.payload.talk.api import ApiError
from aks_infiniband.validation.payload.talk.quantities import quantity

PROMISE = Promise("ndh100", 2, {"nvidia.com/gpu": 8, "rdma/shared_ib": 1}, {})
PATIENCE = Patience(poll_seconds=10, stable_seconds=30, timeout_seconds=300)


class Clock:
    """Time that passes only during a sleep."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> Any:
        return self.now

    def sleep(self, seconds: Any) -> Any:
        self.now += seconds


def node(name: Any, *, ready: Any = "True", cordoned: Any = False, gpu: Any = "8", rdma: Any = "63") -> Any:
    allocatable = {"cpu": "95"}
    allocatable |= {} if gpu is None else {"nvidia.com/gpu": gpu}
    allocatable |= {} if rdma is None else {"rdma/shared_ib": rdma}
    return {
        "metadata": {"name": name},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletNotReady"}],
            "allocatable": allocatable,
        },
    }


def wait(looks: Any, patience: Any = PATIENCE) -> Any:
    """Await nodes against a list of what each look sees; the last one is seen for ever."""
    clock = Clock()
    remaining = list(looks)

    def look() -> Any:
        seen = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if isinstance(seen, Exception):
            raise seen
        return seen

    late = await_nodes(look, PROMISE, patience, clock=clock, sleep=clock.sleep)
    return late, clock.now


GOOD = [node("n0"), node("n1")]


def test_nobody_lags_when_all_nodes_offer_everything() -> None:
    assert laggards(GOOD, PROMISE) == []


@pytest.mark.field_report("B5")
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (node("n1", ready="False"), "node n1: not Ready (KubeletNotReady)"),
        (node("n1", ready="Unknown"), "node n1: not Ready (KubeletNotReady)"),
        (node("n1", cordoned=True), "node n1: cordoned"),
        (node("n1", gpu="7"), "node n1: nvidia.com/gpu 7, expected at least 8"),
        (node("n1", gpu=None), "node n1: nvidia.com/gpu 0, expected at least 8"),
        (node("n1", rdma="0"), "node n1: rdma/shared_ib 0, expected at least 1"),
        (node("n1", gpu=None, rdma=None), "node n1: nvidia.com/gpu 0, expected at least 8, rdma/shared_ib 0, expected"),
    ],
)
def test_a_laggard_is_named_with_what_it_lacks(bad: Any, said: Any) -> None:
    (line,) = laggards([node("n0"), bad], PROMISE)
    assert line.startswith(said)


def test_a_node_without_status_lags() -> None:
    (line,) = laggards([node("n0"), {"metadata": {"name": "n1"}}], PROMISE)
    assert line.startswith("node n1: not Ready (no Ready condition)")


def test_nodes_that_have_not_joined_are_counted() -> None:
    assert laggards([node("n0")], PROMISE) == ["1 of 2 nodes have not joined the cluster"]


def test_a_surplus_node_that_lags_lags_too() -> None:
    assert laggards([*GOOD, node("n2", rdma="0")], PROMISE) == ["node n2: rdma/shared_ib 0, expected at least 1"]


@pytest.mark.parametrize(("text", "value"), [("8", 8), ("1k", 1000), ("2M", 2000000), ("0", 0)])
def test_a_quantity_is_read_as_kubernetes_writes_it(text: Any, value: Any) -> None:
    assert quantity(text) == value


@pytest.mark.field_report("B6b")
def test_the_gate_opens_after_the_stable_window_and_not_before() -> None:
    assert wait([GOOD]) == ([], 30)


@pytest.mark.parametrize("pause", [20, 50])
def test_the_window_is_as_long_where_the_pods_of_a_large_pool_look_less_often(pause: int) -> None:
    assert wait([GOOD], PATIENCE._replace(poll_seconds=pause)) == ([], 30)


@pytest.mark.field_report("B6b")
def test_a_relapse_starts_the_window_anew() -> None:
    relapse = [node("n0"), node("n1", rdma="0")]
    assert wait([GOOD, GOOD, relapse, GOOD]) == ([], 60)


def test_a_look_that_fails_starts_the_window_anew() -> None:
    assert wait([GOOD, GOOD, ApiError("GET /nodes", None, "refused"), GOOD]) == ([], 60)


def test_a_stable_window_of_nothing_opens_at_once() -> None:
    assert wait([GOOD], PATIENCE._replace(stable_seconds=0)) == ([], 0)


@pytest.mark.field_report("B5")
def test_the_gate_gives_up_in_time_and_names_the_laggards() -> None:
    late, seconds = wait([[node("n0"), node("n1", rdma=None)]])
    assert late == ["node n1: rdma/shared_ib 0, expected at least 1"]
    assert seconds == 300


def test_the_gate_gives_up_on_an_api_that_never_answers_and_says_so() -> None:
    late, _ = wait([ApiError("GET /api/v1/nodes", 403, "forbidden")])
    assert late == ["the nodes could not be read: GET /api/v1/nodes: status 403: forbidden"]


def test_good_nodes_that_were_not_stable_in_time_are_not_good_enough() -> None:
    bad = [node("n0"), node("n1", rdma="0")]
    late, _ = wait([*[bad] * 29, GOOD])
    assert late == ["all nodes good only since 10 s, which is not yet stable"]


def test_a_node_without_a_promised_label_lags(tmp_path: Any) -> None:
    promise = PROMISE._replace(labels={"network.nvidia.com/operator.mofed.wait": "false"})
    waiting = node("a")
    waiting["metadata"]["labels"] = {"network.nvidia.com/operator.mofed.wait": "true"}
    done = node("b")
    done["metadata"]["labels"] = {"network.nvidia.com/operator.mofed.wait": "false"}
    assert laggards([waiting, done], promise) == [
        "node a: label network.nvidia.com/operator.mofed.wait=true, expected false"
    ]


@pytest.mark.parametrize("driver", ["ofed", "gpu"])
def test_a_node_whose_driver_is_being_rolled_out_lags_until_it_is_done(driver: str) -> None:
    rolling, done = node("a"), node("b")
    rolling["metadata"]["labels"] = {f"nvidia.com/{driver}-driver-upgrade-state": "drain-required"}
    done["metadata"]["labels"] = {f"nvidia.com/{driver}-driver-upgrade-state": "upgrade-done"}
    assert laggards([rolling, done], PROMISE) == ["node a: its driver is being upgraded (drain-required)"]
