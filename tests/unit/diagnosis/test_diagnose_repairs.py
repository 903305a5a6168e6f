"""A wait that fails while AKS repairs a node says so, and what AKS does next."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.diagnose import diagnose, render
from aks_infiniband.diagnosis.view import View

from tests.unit.diagnosis.views import JOB, POOL, node


def event(reason: str, at: str = "2026-11-23T18:00:00Z", **about: Any) -> Any:
    return {
        "metadata": {"name": reason, "namespace": "default"},
        "source": {"component": "aks-auto-repair"},
        "reason": reason,
        "message": "as AKS says it",
        "lastTimestamp": at,
        "involvedObject": {"kind": "Node", "name": "n0", **about},
    }


def said(events: list[Any], ready: str = "Unknown") -> str:
    view = View(nodes=[node("n0", ready=ready), node("n1")], events=events)
    return render(JOB, diagnose(JOB, view, [POOL]))


@pytest.mark.parametrize("reason", ["NodeRebootStart", "NodeReimageStart", "NodeRedeployStart"])
def test_a_node_that_is_being_repaired_is_named_with_the_event_and_what_aks_does(reason: str) -> None:
    text = said([event(reason)])
    assert f"node n0: {reason} at 2026-11-23T18:00:00Z: as AKS says it" in text
    assert "AKS reboots, then reimages, then redeploys" in text


def test_a_step_that_has_ended_without_help_is_told_as_a_repair_that_goes_on() -> None:
    assert "node n0 was rebooted at 2026-11-23T18:00:00Z and is not Ready" in said([event("NodeRebootEnd")])


@pytest.mark.parametrize(
    "forged", [{"source": {"component": "a-tenant"}}, {"metadata": {"name": "x", "namespace": "team"}}]
)
def test_a_repair_that_aks_has_not_told_is_none(forged: Any) -> None:
    assert "AKS" not in said([{**event("NodeRebootStart"), **forged}])


def test_of_several_steps_the_last_one_counts() -> None:
    steps = [event("NodeRebootStart", "2026-11-23T18:00:00Z"), event("NodeReimageError", "2026-11-23T18:09:00Z")]
    text = said(steps)
    assert "AKS could not carry out a step" in text
    assert "NodeRebootStart" not in text


def test_a_repair_that_is_over_and_one_of_an_earlier_node_of_the_name_are_not_told() -> None:
    assert "repair" not in said([event("NodeReimageEnd")], ready="True")
    view = View(nodes=[node("n0", ready="Unknown")], events=[event("NodeRebootStart", uid="another")])
    view.nodes[0]["metadata"]["uid"] = "this one"
    assert "NodeRebootStart" not in render(JOB, diagnose(JOB, view, [POOL]))
