"""The pods that leave a node before its machine is restarted, and those of them that no controller would make again."""

from typing import Any

import pytest
from aks_infiniband_cli.bad_machines.replace.drain import leaving, nobodys, told


def pod(name: str, *, owner: str = "", node: str = "a", phase: str = "Running") -> dict[str, Any]:
    owners = {"ownerReferences": [{"kind": owner, "name": "o", "controller": True}]} if owner else {}
    return {
        "metadata": {"name": name, "namespace": "default", **owners},
        "spec": {"nodeName": node},
        "status": {"phase": phase},
    }


@pytest.mark.parametrize(
    ("found", "leaves"),
    [
        (pod("p", owner="Job"), True),
        (pod("p"), True),
        (pod("p", owner="DaemonSet"), False),
        (pod("p", owner="Node"), False),
        (pod("p", owner="Job", phase="Succeeded"), False),
        (pod("p", owner="Job", node="b"), False),
    ],
)
def test_what_belongs_to_the_machine_stays_and_what_is_over_needs_not_leave(
    found: dict[str, Any], leaves: bool
) -> None:
    assert bool(leaving([found], "a")) == leaves


def test_a_pod_without_a_controller_is_made_again_by_nobody() -> None:
    owned = pod("p")
    owned["metadata"]["ownerReferences"] = [{"kind": "Workflow", "name": "w"}]
    assert nobodys([pod("made", owner="ReplicaSet"), pod("by-hand"), owned]) == [pod("by-hand"), owned]


def test_some_of_many_are_named() -> None:
    assert told([]) == ""
    assert told([pod(name) for name in "abcde"]) == "pods default/a, default/b, default/c and 2 more run there"
