"""A pool of 16 machines loses one after the other to faults, and comes back whole without a person.

The machines have one HCA each, so that 16 of them are few processes. Azure, nodes and tools are simulated; the command,
its Azure clients, the engine and the API server are real. The tests follow one another in one data centre.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband_cli.bad_machines.replace.quarantine import is_in_quarantine
from aks_infiniband_cli.preflight.rehearsed import VARIABLE
from lightkube.resources.core_v1 import Event, Node

from rehearsal.azure.subscription import DEFAULT_FILE
from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal
from tests.rehearsal.stacks.conftest import SPEED, Stack, copy_of_project

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]
COMMAND = str(Path(sys.executable).with_name("aks-infiniband"))
MACHINES = int(os.environ.get("REPLACE_MACHINES", "16"))
LIMIT_SECONDS = 3600
NO_ROOM = {"code": "AllocationFailed", "operations": ["update"], "first": 1}
"""The first machine that is given up has no successor at first."""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("replace")
    project = copy_of_project(folder / "project")
    file = project / "Pulumi.hbv4.yaml"
    settings = yaml.safe_load(file.read_text())
    settings["config"]["aks-infiniband:pools"][0]["count"] = MACHINES
    file.write_text(yaml.safe_dump(settings))
    subscription = folder / "subscription.yaml"
    subscription.write_text(yaml.safe_dump({**yaml.safe_load(DEFAULT_FILE.read_text()), "faults": [NO_ROOM]}))
    run = RunFolder.at(folder / "run")
    rehearsal = Rehearsal(project=project, stack="hbv4", run=run, speed=SPEED, subscription=subscription)
    with rehearsal.data_centre():
        running = Stack(rehearsal)
        done = running.up()
        assert done.succeeded, done.said
        yield running


def command(stack: Stack, *arguments: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, VARIABLE: str(stack.rehearsal.run.azure_login)}
    given = [*arguments, "--kubeconfig", str(stack.kubeconfig()), "--output", "json"]
    return subprocess.Popen(
        [COMMAND, "replace", *given],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def replaced(stack: Stack, folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code of the command, and its case."""
    done = command(stack, *arguments, "--a-day", "50", "--evidence", str(folder))
    out, said = done.communicate(timeout=LIMIT_SECONDS)
    assert done.returncode in (0, 1), said
    return done.returncode, json.loads(out)["cases"][-1]


def names(stack: Stack) -> list[str]:
    found = [node.to_dict() for node in stack.cluster().list(Node)]
    return sorted(node["metadata"]["name"] for node in found if node["metadata"]["labels"].get("agentpool") == "hbv4")


def is_whole(stack: Stack) -> bool:
    """Whether the pool has all machines, all of them may be used, and the program finds nothing to do."""
    nodes = [node.to_dict() for node in stack.cluster().list(Node)]
    held = [node for node in nodes if is_in_quarantine(node) or node["spec"].get("unschedulable")]
    return len(names(stack)) == MACHINES and not held and not stack.preview().changed


def steps(case: dict[str, Any]) -> list[str]:
    return [line["step"] for line in case["lines"]]


def tell(what: str, case: dict[str, Any]) -> None:
    """The timeline for the page, with `pytest -s`: simulated minutes since the case began."""
    began = datetime.fromisoformat(case["lines"][0]["at"])
    for line in case["lines"]:
        minutes = (datetime.fromisoformat(line["at"]) - began).total_seconds() * SPEED / 60
        print(f"{what} | {minutes:5.0f} | {line['step']} | {line['what']}")


SAID = {"quarantined", "emptied", "evidence kept", "restarted", "bad", "goes on", "redeployed", "deleted", "gone"}
SAID |= {"refilled", "arrived", "sound"}
"""The steps, as the command says them."""
BEFORE = ["Quarantined", "Emptied", "EvidenceKept", "Restarted"]


def test_a_machine_that_a_restart_cures_is_let_in_again(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[3]
    stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    code, case = replaced(stack, tmp_path, node)
    tell("slow, cured by a restart", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", [*BEFORE, "Sound", "LetIn"])
    evidence = json.loads(next(tmp_path.glob("evidence-*.json")).read_text())
    assert evidence["node"] == node
    assert evidence["physical_host_name"]
    assert is_whole(stack)


def test_a_machine_that_another_host_cures_is_redeployed_and_keeps_its_name(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[4]
    stack.fault("half-rate", node=node, curedBy="redeploy")
    code, case = replaced(stack, tmp_path, node)
    tell("HCA at half rate, cured by another host", case)
    assert (code, case["outcome"]) == (0, "cured")
    assert steps(case) == [*BEFORE, "Bad", "GoesOn", "Redeployed", "Sound", "LetIn"]
    assert node in names(stack)
    assert is_whole(stack)


def test_a_machine_that_nothing_cures_is_given_up_and_azure_without_room_is_told(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[5]
    stack.fault("slow", node=node, factor=0.8)
    code, case = replaced(stack, tmp_path, node)
    assert (code, case["outcome"], case["stage"]) == (1, None, "refill")
    assert f"has {MACHINES - 1} of {MACHINES} machines: AllocationFailed" in case["lines"][-1]["what"]
    assert len(names(stack)) == MACHINES - 1

    code, case = replaced(stack, tmp_path, node)
    tell("slow for good", case)
    assert (code, case["outcome"]) == (0, "replaced")
    assert node not in names(stack)
    assert case["new"] in names(stack)
    assert is_whole(stack)
    told = {event.reason for event in stack.cluster().list(Event, namespace="default") if event.source}
    assert {"ReplaceQuarantined", "ReplaceDeleted", "ReplaceArrived", "ReplaceLetIn"} <= told


def test_a_new_machine_that_is_bad_too_stays_out_and_is_named(stack: Stack, tmp_path: Path) -> None:
    before = names(stack)
    node = before[6]
    stack.fault("slow", node=node, factor=0.8)
    newest = max(int(name[-6:], 36) for name in before)
    stack.fault("slow", node=f"{node[:-6]}{newest + 1:06d}", factor=0.8)
    code, case = replaced(stack, tmp_path, node)
    tell("slow, and its successor too", case)
    assert (code, case["outcome"]) == (1, "still bad")
    assert "the new machine is bad, too: rdma-write-bandwidth" in case["lines"][-1]["what"]
    assert not is_whole(stack)

    code, again = replaced(stack, tmp_path, case["new"])
    assert (code, again["outcome"]) == (0, "replaced")
    assert is_whole(stack)


def test_a_machine_without_its_hca_is_replaced(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[7]
    stack.fault("missing", node=node)
    code, case = replaced(stack, tmp_path, node, "--limit-minutes", "2")
    tell("HCA missing", case)
    assert (code, case["outcome"]) == (0, "replaced")
    assert is_whole(stack)


def test_killed_at_every_step_it_goes_on_where_it_was(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[8]
    stack.fault("slow", node=node, factor=0.8)
    killed = list[str]()
    while True:
        going = command(stack, node, "--a-day", "50", "--evidence", str(tmp_path))
        assert going.stderr
        for line in going.stderr:
            step = line.partition(": ")[2].partition(":")[0].strip()
            if step in SAID and step not in killed:
                killed.append(step)
                going.send_signal(signal.SIGKILL)
                break
        out, _ = going.communicate(timeout=LIMIT_SECONDS)
        if going.returncode == 0:
            break
        assert going.returncode == -signal.SIGKILL
    case = json.loads(out)["cases"][-1]
    assert case["outcome"] == "replaced"
    assert len(killed) >= 10
    assert steps(case).count("Restarted") == steps(case).count("Redeployed") == steps(case).count("Deleted") == 1
    assert is_whole(stack)


def test_what_azure_repairs_by_itself_is_left_alone(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[9]
    scheduled = {
        "type": "VMEventScheduled",
        "status": "True",
        "reason": "RebootScheduled",
        "message": "Reboot Scheduled",
    }
    stack.cluster().patch(Node.Status, node, {"status": {"conditions": [scheduled]}})
    done = command(stack, node, "--evidence", str(tmp_path))
    out, _ = done.communicate(timeout=LIMIT_SECONDS)
    assert done.returncode == 1
    assert "is left alone: Azure has scheduled an event for it" in json.loads(out)["plan"]["refused"]
    stack.cluster().patch(Node.Status, node, {"status": {"conditions": [{**scheduled, "status": "False"}]}})


def test_one_command_stops_it_wherever_it_runs(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[10]
    stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    going = command(stack, node, "--a-day", "50", "--evidence", str(tmp_path))
    assert going.stderr
    for line in going.stderr:
        if "restarted" in line:
            break
    stopping = command(stack, "--stop")
    assert stopping.wait(LIMIT_SECONDS) == 0
    going.communicate(timeout=LIMIT_SECONDS)
    assert going.returncode == 1
    code, case = replaced(stack, tmp_path, node)
    assert (code, case["outcome"]) == (0, "cured")
    assert is_whole(stack)


def test_it_watches_the_light_checks_condition_and_ends_when_it_is_stopped(stack: Stack, tmp_path: Path) -> None:
    node = names(stack)[11]
    stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    unhealthy = {"type": "InfiniBandHealthy", "status": "False", "reason": "RdmaWriteBandwidth", "message": "slow"}
    unhealthy |= {"lastHeartbeatTime": moment, "lastTransitionTime": moment}
    stack.cluster().patch(Node.Status, node, {"status": {"conditions": [unhealthy]}})
    going = command(stack, "--watch", "--a-day", "50", "--evidence", str(tmp_path))
    assert going.stderr
    for line in going.stderr:
        if ": let in" in line:
            break
    assert command(stack, "--stop").wait(LIMIT_SECONDS) == 0
    out, _ = going.communicate(timeout=LIMIT_SECONDS)
    assert [(case["node"], case["outcome"]) for case in json.loads(out)["cases"]] == [(node, "cured")]
    assert is_whole(stack)
