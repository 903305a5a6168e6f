"""A pool of 16 machines loses one after the other to faults, and comes back whole without a person.

Azure, nodes and tools are simulated; the command, its Azure clients, the engine and the API server are real.
"""

import json
import signal
from pathlib import Path

import pytest
from lightkube.resources.core_v1 import Event, Node

from tests.rehearsal.replace.replacing import (
    CURED_BY_ANOTHER_HOST,
    CURED_BY_RESTART,
    GIVEN_UP,
    LIMIT_SECONDS,
    UNBOUNDED,
    Fleet,
    steps,
    tell,
)

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
SAID = {"quarantined", "emptied", "evidence kept", "restarted", "bad", "goes on", "redeployed", "deleted", "gone"}
SAID |= {"refilled", "arrived", "sound"}
"""The steps, as the command says them."""


def test_a_machine_that_a_restart_cures_is_let_in_again(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(3)
    hbv4.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    code, case = hbv4.replaced(evidence, node)
    tell("slow, cured by a restart", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_RESTART)
    kept = json.loads(next(evidence.glob("evidence-*.json")).read_text())
    assert kept["node"] == node
    assert kept["physical_host_name"]
    assert hbv4.is_whole()


def test_a_machine_that_another_host_cures_is_redeployed_and_keeps_its_name(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(4)
    hbv4.stack.fault("half-rate", node=node, curedBy="redeploy")
    code, case = hbv4.replaced(evidence, node)
    tell("HCA at half rate, cured by another host", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_ANOTHER_HOST)
    assert node in hbv4.names()
    assert hbv4.is_whole()


def test_a_machine_that_nothing_cures_is_given_up_and_azure_without_room_is_told(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(5)
    hbv4.stack.fault("slow", node=node, factor=0.8)
    hbv4.stack.refuse("AllocationFailed", operations=["update"])
    code, case = hbv4.replaced(evidence, node)
    assert (code, case["outcome"], case["stage"]) == (1, None, "refill")
    why = case["lines"][-1]["what"]
    assert f"has {hbv4.count - 1} of {hbv4.count} machines: Azure lacks capacity for the size in this region" in why
    assert "Azure says: AllocationFailed: " in why
    assert len(hbv4.names()) == hbv4.count - 1

    code, case = hbv4.replaced(evidence, node)
    tell("slow for good, and no room at first", case)
    assert (code, case["outcome"]) == (0, "replaced")
    assert node not in hbv4.names()
    assert case["new"] in hbv4.names()
    assert hbv4.is_whole()
    told = {event.reason for event in hbv4.stack.cluster().list(Event, namespace="default") if event.source}
    assert {"ReplaceQuarantined", "ReplaceDeleted", "ReplaceArrived", "ReplaceLetIn"} <= told


def test_a_new_machine_that_is_bad_too_stays_out_and_is_named(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(6)
    hbv4.stack.fault("slow", node=node, factor=0.8)
    newest = max(int(name[-6:], 36) for name in hbv4.names())
    hbv4.stack.fault("slow", node=f"{node[:-6]}*{in_base_36(newest + 1)}", factor=0.8)
    code, case = hbv4.replaced(evidence, node)
    tell("slow, and its successor too", case)
    assert (code, case["outcome"], steps(case)) == (1, "still bad", [*GIVEN_UP, "Bad", "Ended"])
    assert "the new machine is bad, too: rdma-write-bandwidth" in case["lines"][-1]["what"]
    assert not hbv4.is_whole()

    code, again = hbv4.replaced(evidence, case["new"])
    assert (code, again["outcome"]) == (0, "replaced")
    assert hbv4.is_whole()


def in_base_36(number: int) -> str:
    """A number as scale sets write an instance's in a node's name."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[number] if number < 36 else in_base_36(number // 36) + digits[number % 36]


def test_a_machine_without_its_hca_is_replaced(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(7)
    hbv4.stack.fault("missing", node=node)
    code, case = hbv4.replaced(evidence, node, "--limit-minutes", "1")
    tell("HCA missing", case)
    assert (code, case["outcome"]) == (0, "replaced")
    assert any("minutes after the request to Azure: rdma/shared_ib" in line["what"] for line in case["lines"])
    assert hbv4.is_whole()


def test_killed_at_every_step_it_goes_on_where_it_was(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(8)
    hbv4.stack.fault("slow", node=node, factor=0.8)
    killed = list[str]()
    while True:
        going = hbv4.command(node, *UNBOUNDED, "--evidence", str(evidence))
        assert going.stderr
        for line in going.stderr:
            step = line.partition(": ")[2].partition(":")[0].strip()
            if step in SAID and step not in killed:
                killed.append(step)
                going.send_signal(signal.SIGKILL)
                break
        out, said = going.communicate(timeout=LIMIT_SECONDS)
        if going.returncode == 0:
            break
        assert going.returncode == -signal.SIGKILL, said
    case = json.loads(out)["cases"][-1]
    tell("slow for good, the command killed at every step", case)
    assert case["outcome"] == "replaced"
    assert len(killed) >= 10
    assert steps(case).count("Restarted") == steps(case).count("Redeployed") == steps(case).count("Deleted") == 1
    assert hbv4.is_whole()


def test_what_azure_repairs_by_itself_is_left_alone(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(9)
    scheduled = {
        "type": "VMEventScheduled",
        "status": "True",
        "reason": "RebootScheduled",
        "message": "Reboot Scheduled",
    }
    hbv4.stack.cluster().patch(Node.Status, node, {"status": {"conditions": [scheduled]}})
    done = hbv4.command(node, "--evidence", str(evidence))
    out, _ = done.communicate(timeout=LIMIT_SECONDS)
    assert done.returncode == 1
    assert "is left alone: Azure has scheduled an event for it" in json.loads(out)["plan"]["refused"]
    hbv4.stack.cluster().patch(Node.Status, node, {"status": {"conditions": [{**scheduled, "status": "False"}]}})
