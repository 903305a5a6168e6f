"""A pool of four: the same machine is bad again, two are bad at once, and the quota is used up.

The tests follow one another. Azure, nodes and tools are simulated; the commands and the API server are real.
"""

import base64
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.payload.light_check.exporter import PREFIX, exposition, record_in, reports_in
from aks_infiniband.validation.payload.report.standing import RECORD
from lightkube.resources.core_v1 import ConfigMap

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import (
    CURED_BY_ANOTHER_HOST,
    CURED_BY_RESTART,
    GIVEN_UP,
    LIMIT_SECONDS,
    Fleet,
    fleet,
    steps,
    tell,
)
from tests.rehearsal.stacks.light_checks import checked

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def four(rehearse_ours: RehearseOurs) -> Fleet:
    """A pool of four machines with one HCA each, and a light check that is begun by hand."""
    stack = rehearse_ours("hbv4")
    stack.settings(lightCheck={"schedule": "0 0 29 2 *"})
    return fleet(stack, machines=4)


def said(four: Fleet, *words: str, code: int | None = None) -> str:
    """The output of a command, with its exit code checked if one is given."""
    whole = f"{four.entered} && exec {shlex.join(['aks-infiniband', *words])}"
    done = subprocess.run(["bash", "-c", whole], check=False, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done.stdout


def found(four: Fleet, *words: str, code: int | None = None) -> Any:
    return json.loads(said(four, *words, "--output", "json", code=code))


def _told(four: Fleet, name: str) -> dict[str, Any]:
    (node,) = [each for each in four.stack.nodes() if each["metadata"]["name"] == name]
    own = [each for each in node["status"]["conditions"] if each["type"] == "InfiniBandHealthy"]
    return own[0] if own else {"status": "none", "message": ""}


def condition(four: Fleet, name: str) -> str:
    """The status of the light check's condition of a node."""
    return str(_told(four, name)["status"])


def reason(four: Fleet, name: str) -> str:
    """The message of the condition."""
    return str(_told(four, name)["message"])


def metrics(four: Fleet, folder: Path, name: str) -> dict[str, str]:
    """The exporter's samples of a node, by their series without pool and node. folder: as the kubelet mounts it."""
    for config_map in ("hbv4-light-check", RECORD):
        mounted = folder / config_map
        mounted.mkdir(exist_ok=True)
        every = four.stack.cluster().list(ConfigMap, namespace=SYSTEM_NAMESPACE)
        for held in (each for each in every if each.metadata and each.metadata.name == config_map):
            for key, value in (held.binaryData or {}).items():
                (mounted / key).write_bytes(base64.b64decode(value))
    lines = exposition(reports_in(folder), record_in(folder)).splitlines()
    own = [line.removeprefix(PREFIX) for line in lines if f'node="{name}"' in line]
    return {
        series.replace(f'pool="hbv4",node="{name}"', ""): value for series, _, value in (x.rpartition(" ") for x in own)
    }


def test_a_bad_machine_has_the_same_words_in_every_command_until_a_new_measured_one_is_in_its_place(
    four: Fleet, tmp_path: Path
) -> None:
    slow = four.node(3)
    four.stack.fault("slow", node=slow, factor=0.8)
    checked(four.stack, "hbv4", "first")
    words = "rdma-write-bandwidth (mlx5_0): 314.48 Gb/s"
    assert condition(four, slow) == "False"
    assert "314.48 Gb/s" in reason(four, slow)
    assert metrics(four, tmp_path, slow)["node_healthy{}"] == "0"
    assert words in said(four, "evidence", slow, "--out", str(tmp_path / "seen.json"), code=0)

    assert words in found(four, "validate", "--cordon", code=1)["cordoned"][slow]
    assert words in reason(four, slow)
    (finding,) = [each for each in found(four, "doctor")["findings"] if each["object"] == f"node {slow}"]
    assert words in finding["cause"]
    assert f"aks-infiniband replace {slow}" in finding["fix"]
    wrong = said(four, "evidence", slow, "--out", str(tmp_path / "named.json"), code=0).partition("What is wrong:")[2]
    assert words in wrong.partition("\n\n")[0]
    assert words in said(four, "report", "--out", str(tmp_path), code=1)
    held = metrics(four, tmp_path, slow)
    assert held["node_healthy{}"] == "0"
    assert any(series.endswith(',by="validate",verdict="fail"}') for series in held), held

    code, case = four.replaced(tmp_path, slow)
    tell("slow for good, from the first slow figure on", case)
    assert (code, case["outcome"], steps(case)) == (0, "replaced", [*GIVEN_UP, "Sound", "LetIn"])
    assert all(words in line["what"] for line in case["lines"] if line["step"] == "Bad")
    (kept,) = tmp_path.glob(f"evidence-{slow}-*.json")
    assert "314.48" in kept.read_text(encoding="utf-8"), "the evidence that replace keeps has the figure too"
    new = case["new"]
    assert four.is_whole()
    checked(four.stack, "hbv4", "last")
    assert condition(four, new) == "True"
    assert metrics(four, tmp_path, new)["node_healthy{}"] == "1"
    assert [each for each in found(four, "doctor")["findings"] if each["object"] == f"node {new}"] == []
    page = said(four, "report", "--out", str(tmp_path), code=0)
    assert f"{slow} of pool hbv4: replaced by {new}" in page
    assert f"since then: {new}: light check on" in page
    assert found(four, "validate", code=0)["pools"]["hbv4"]["verdict"] == "pass"
    four.stack.mend()


def test_a_machine_that_is_bad_again_after_it_was_cured_has_its_whole_story_in_the_ticket(
    four: Fleet, tmp_path: Path
) -> None:
    node, other = four.node(1), four.node(2)
    four.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    assert list(found(four, "validate", "--cordon", code=1)["cordoned"]) == [node]
    code, case = four.replaced(tmp_path, node)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_RESTART)

    four.stack.mend()
    four.stack.fault("slow", node=node, factor=0.79, curedBy="redeploy")
    measured = found(four, "validate", "--node", node, "--node", other, "--node", four.node(3), "--cordon", code=1)
    assert list(measured["cordoned"]) == [node]
    assert condition(four, node) == "False"
    ticket = said(four, "evidence", node, "--out", str(tmp_path / "again.json"), code=0)
    wrong, decided = ticket.partition("What is wrong:")[2], ticket.partition("What was decided:")[2]
    assert "rdma-write-bandwidth" in wrong.partition("\n\n")[0]
    story = ["cordoned by validate --cordon", "quarantined by replace", "restarted by replace", "let in by replace"]
    places = [decided.index(each) for each in story]
    assert places == sorted(places)
    assert decided.rindex("cordoned by validate --cordon") > places[-1]
    (earlier,) = [line for line in ticket.splitlines() if line.startswith("- validate on ") and ": fail: " in line]
    assert earlier.endswith(", of an earlier boot: the machine was started again since")
    (finding,) = [each for each in found(four, "doctor")["findings"] if each["object"] == f"node {node}"]
    assert "aks-infiniband validate --cordon holds it" in finding["cause"]

    code, case = four.replaced(tmp_path, node)
    tell("slow, cured by a restart, and slow again", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_ANOTHER_HOST)
    assert condition(four, node) == "True"
    assert four.is_whole()
    page = said(four, "report", "--out", str(tmp_path))
    assert page.count(f"{node} of pool hbv4: cured") == 2


def test_two_bad_ones_between_good_ones_are_both_named_and_no_row_doubts_them(four: Fleet) -> None:
    """Every pair of the ring has a bad end."""
    four.stack.mend()
    first, second = four.node(0), four.node(2)
    for node in (first, second):
        four.stack.fault("slow", node=node, factor=0.8)
    measured = found(four, "validate", "--cordon", code=1)
    assert set(measured["cordoned"]) == {first, second}
    rows = [check for check in measured["pools"]["hbv4"]["report"]["checks"] if check["verdict"] == "fail"]
    assert {check["node"] for check in rows} == {first, second}
    assert not [check for check in rows if "no third HCA has told them apart" in (check["cause"] or "")]


def test_a_pool_at_its_quota_waits_with_its_case_open_while_the_other_bad_one_is_cured(
    four: Fleet, tmp_path: Path
) -> None:
    """Both are held by `validate --cordon`. Azure has given the quota of the deleted machine to others."""
    gone, other = sorted(node for node in four.names() if condition(four, node) == "False")
    four.stack.mend()
    four.stack.fault("slow", node=gone, factor=0.8)
    four.stack.fault("slow", node=other, factor=0.8, curedBy="restart")
    four.stack.refuse("QuotaExceeded", operations=["update"], first=2)
    code, case = four.replaced(tmp_path, gone)
    assert (code, case["outcome"], case["stage"], steps(case)[-1]) == (1, None, "refill", "Waits")
    why = case["lines"][-1]["what"]
    assert why.startswith("pool hbv4 has 3 of 4 machines: the family's vCPU quota in this region is too small")
    assert "Azure says: QuotaExceeded: " in why
    assert gone not in four.names()

    (finding,) = [each for each in found(four, "doctor")["findings"] if each["object"] == "pool hbv4"]
    assert (finding["symptom"], finding["command"]) == ("pool-short", f"aks-infiniband replace {gone}")
    assert why.partition(". Azure says")[0] in finding["cause"]
    told = said(four, "report", "--out", str(tmp_path))
    assert f"{gone} of pool hbv4: under way, at the stage refill" in told
    measured = found(four, "validate", code=1)["pools"]["hbv4"]
    assert (measured["verdict"], measured["missing"]["nodes"]) == ("fail", 1)
    assert gone in measured["missing"]["names"], "with the machine that was replaced before, which the report knew too"

    refused = found(four, "replace", other, "--a-day", "50", code=1)["plan"]["refused"]
    assert refused == f"1 of pool hbv4 is being replaced ({gone}), and --at-once is 1"
    code, cured = four.replaced(tmp_path, other)
    assert (code, cured["outcome"], steps(cured)) == (0, "cured", CURED_BY_RESTART)

    code, again = four.replaced(tmp_path, gone)
    assert (code, again["stage"], again["lines"]) == (1, "refill", case["lines"]), "the same words, once"
    code, case = four.replaced(tmp_path, gone)
    tell("slow for good, in a pool at its quota", case)
    assert (code, case["outcome"], steps(case)[-4:]) == (0, "replaced", ["Waits", "Arrived", "Sound", "LetIn"])
    assert steps(case).count("Deleted") == steps(case).count("Refilled") == 1
    assert four.is_whole()
    assert condition(four, case["new"]) in {"none", "True"}, "the watch has a new machine checked, sooner or later"
    assert condition(four, other) == "True"
