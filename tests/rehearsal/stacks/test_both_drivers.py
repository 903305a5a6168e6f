"""A change of both drivers in one `up`: one upgrade after the other, and no node is uncordoned under one of them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aks_infiniband.facts.driver_upgrades import GPU, NIC

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

pytestmark = pytest.mark.long
STACK = "sriov"
_AT_REST = {"", "upgrade-done", "upgrade-required"}


def states(stack: Stack) -> dict[str, dict[str, str]]:
    """By node, how far each driver's upgrade is, and what an operator noted of the node before it began."""
    found = {}
    for node in stack.nodes(**{"nvidia.com__gpu.present": "true"}):
        labels, notes = node["metadata"]["labels"], node["metadata"].get("annotations") or {}
        found[node["metadata"]["name"]] = {
            **{driver: labels.get(f"{driver}-state", "") for driver in (NIC, GPU)},
            "cordoned before": " ".join(key for key in notes if key.endswith("node-initial-state.unschedulable")),
        }
    return found


@contextmanager
def watched(stack: Stack) -> Iterator[list[dict[str, Any]]]:
    """Everything that a node's upgrades went through, without what came twice."""
    seen: list[dict[str, Any]] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.2):
            seen.extend(found for found in states(stack).values() if found not in seen)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield seen
    ended.set()
    watcher.join()


def test_both_drivers_change_in_one_up_and_no_operator_finds_a_node_that_the_other_holds(
    stack: Stack, brought_up: Outcome
) -> None:
    stack.settings(
        networkOperator={"mode": "sriov", "driverVersion": "doca3.5.0-26.07-0.1.0.0-0"},
        gpuOperator={"driverVersion": "999.2.0"},
    )
    with watched(stack) as seen:
        done = stack.up()
    assert done.succeeded, done.said
    for driver in (NIC, GPU):
        assert {found[driver] for found in seen} >= {"pod-restart-required", "upgrade-done"}, seen
    both = [found for found in seen if all(found[driver] not in _AT_REST for driver in (NIC, GPU))]
    assert not both
    assert not [found for found in seen if found["cordoned before"]]
    assert "1 node to go" in done.said
    assert set(stack.verdicts().values()) == {"pass"}
