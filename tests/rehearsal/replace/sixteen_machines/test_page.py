"""The commands of docs/replace.md and docs/evidence.md, run as a person runs them, and what the pages show."""

import json
import re
import shlex
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest
from lightkube import ApiError
from lightkube.resources.core_v1 import ConfigMap, Node

from tests.rehearsal.replace.replacing import LIMIT_SECONDS, Fleet
from tests.rehearsal.shell import in_shell
from tests.snippets import snippets

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
OF_THE_PAGES: Final = ("aks-hbv4-11437512-vmss000003", "aks-ndh100-12345678-vmss000001")
"""The nodes of docs/replace.md and docs/evidence.md."""
BEGIN, STOP_AND_GO_ON, WATCH, HISTORY = snippets("replace.md", "sh")
(TRANSCRIPT,) = snippets("replace.md", "console")
KEEP, SEND, _ASK = snippets("evidence.md", "sh")


@pytest.fixture(autouse=True)
def day(hbv4: Fleet) -> None:
    """Each test has a separate day: the pages' commands keep to the budget."""
    with suppress(ApiError):  # the history is still empty
        hbv4.stack.cluster().delete(ConfigMap, "replaced-machines", namespace="aks-infiniband-system")


def lines(block: str, node: str) -> list[str]:
    """The commands of a block, about a node of the rehearsal."""
    for other in OF_THE_PAGES:
        block = block.replace(other, node)
    return [line for line in (line.partition("#")[0].strip() for line in block.splitlines()) if line]


def run(fleet: Fleet, script: str, folder: Path) -> str:
    """The output of a script in the rehearsal's shell; it must succeed."""
    return in_shell(f"{fleet.entered}\n{script}", folder, seconds=LIMIT_SECONDS)


@contextmanager
def begun(fleet: Fleet, line: str, folder: Path, *, until: str) -> Iterator["subprocess.Popen[str]"]:
    """A command of a page that has said something, and continues."""
    pipe, entered = subprocess.PIPE, f"{fleet.entered} && exec {line}"
    with subprocess.Popen(["bash", "-c", entered], cwd=folder, stdout=pipe, stderr=pipe, text=True) as going:
        try:
            assert going.stderr
            said = list[str]()
            for each in going.stderr:
                said.append(each)
                if until in each:
                    break
            else:
                raise AssertionError("".join(said))
            yield going
        finally:
            going.kill()


def unhealthy(fleet: Fleet, node: str) -> None:
    """The light check's condition of a slow node."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    told = {"type": "InfiniBandHealthy", "status": "False", "reason": "RdmaWriteBandwidth", "message": "314 Gb/s"}
    told |= {"lastHeartbeatTime": moment, "lastTransitionTime": moment}
    fleet.stack.cluster().patch(Node.Status, node, {"status": {"conditions": [told]}})


def plain(text: str) -> list[str]:
    """Lines without what differs from run to run: moments, and the names of nodes and files."""
    pattern = r"aks-hbv4-\d{8}-vmss\w{6}"
    subject = re.findall(pattern, text)[0]
    text = re.sub(pattern, lambda name: "the-node" if name[0] == subject else "another", text)
    text = re.sub(r"(\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(\+00:00)?", "TIME", text)
    return [line.rstrip() for line in re.sub(r"-[0-9a-f]{8}\.json", "-ID.json", text).splitlines()]


def test_what_the_page_shows_is_what_the_command_prints(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(3)
    hbv4.stack.fault("slow", node=node, factor=0.8)
    commands = [line.removeprefix("$ ") for line in TRANSCRIPT.splitlines() if line.startswith("$ ")]
    script = "\n".join(f"echo {shlex.quote(f'$ {line}')}\n{line}" for line in commands)
    printed = run(hbv4, script.replace(OF_THE_PAGES[0], node), evidence)
    print(printed)
    shown = plain(TRANSCRIPT)
    assert len(plain(printed)) == len(shown)
    for found, line in zip(plain(printed), shown, strict=True):
        assert found.startswith(line[:-1]) if line.endswith("…") else found == line
    assert hbv4.is_whole()


def test_it_is_begun_stopped_gone_on_with_and_let_in_as_the_page_says(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(10)
    hbv4.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    dry_run, begin = lines(BEGIN, node)
    stop, go_on, let_in = lines(STOP_AND_GO_ON, node)
    assert "nothing was changed" in run(hbv4, dry_run, evidence)
    with begun(hbv4, begin, evidence, until=": restarted") as going:
        assert f"stopped: {node}, at the stage restart" in run(hbv4, stop, evidence)
        assert going.wait(LIMIT_SECONDS) == 1
    assert f"{node} of pool hbv4: cured" in run(hbv4, go_on, evidence)
    assert f"{node} is not in a quarantine" in run(hbv4, let_in, evidence)
    (case,) = json.loads(run(hbv4, HISTORY, evidence))["cases"]
    asked = [line["step"] for line in case["lines"] if line["step"] in ("Restarted", "Stopped", "LetIn")]
    assert asked == ["Restarted", "Stopped", "LetIn"], "it was not restarted again"
    assert hbv4.is_whole()


def test_a_restart_that_azure_accepts_and_never_carries_out_is_not_repeated_and_left_to_you(
    hbv4: Fleet, evidence: Path
) -> None:
    node = hbv4.node(13)
    hbv4.stack.refuse("Hang", type="VirtualMachine", operations=["restart"])
    _, begin = lines(BEGIN, node)
    script = f"{begin} --limit-minutes 1 --output json || test $? = 1"
    (case,) = json.loads(run(hbv4, script, evidence))["cases"]
    assert case["outcome"] == "not decided"
    assert [line["step"] for line in case["lines"]].count("Restarted") == 1
    run(hbv4, lines(STOP_AND_GO_ON, node)[2], evidence)
    assert hbv4.is_whole()


def test_a_node_that_the_light_check_calls_unhealthy_is_cured_by_itself(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(11)
    hbv4.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    unhealthy(hbv4, node)
    (watch,) = lines(WATCH, node)
    with begun(hbv4, f"{watch} --output json", evidence, until=": let in") as going:
        run(hbv4, lines(STOP_AND_GO_ON, node)[0], evidence)
        out, said = going.communicate(timeout=LIMIT_SECONDS)
    assert [(case["node"], case["outcome"]) for case in json.loads(out)["cases"]] == [(node, "cured")], said
    assert hbv4.is_whole()


def test_evidence_is_kept_for_its_owner_alone_and_has_a_report_to_azure_ready(hbv4: Fleet, evidence: Path) -> None:
    node = hbv4.node(12)
    unhealthy(hbv4, node)
    (keep,) = lines(KEEP, node)
    ticket = run(hbv4, keep, evidence)
    assert f"A machine with InfiniBand does not perform: {node} (Standard_HB176rs_v4)" in ticket
    assert "- light check: 314 Gb/s" in ticket
    file, *sent = lines(SEND, node)
    kept = evidence / file.removeprefix("file=")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    found: dict[str, Any] = json.loads(kept.read_text())
    values = [found[above][below] for above, below in re.findall(r"jq (?:-r )?\.(\w+)\.(\w+)", " ".join(sent))]
    path, body = values
    assert path.startswith("/subscriptions/")
    assert body["properties"]["impactedResourceId"] == found["resource_id"]
    machine = {"PhysicalHostName": found["physical_host_name"], "VmUniqueId": found["vm_id"]}
    assert body["properties"]["additionalProperties"] == machine
    client = hbv4.stack.cluster()
    well = {"type": "InfiniBandHealthy", "status": "True"}
    client.patch(Node.Status, node, {"status": {"conditions": [well]}})
