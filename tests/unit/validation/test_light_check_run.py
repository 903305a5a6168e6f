"""A run of the scheduled check as its pods see it; tests/rehearsal/stacks/test_inbox.py runs it on machines."""

import json
from typing import Any

import pytest
from aks_infiniband.validation.payload.light_check import check
from aks_infiniband.validation.payload.light_check.state import KEY
from aks_infiniband.validation.payload.talk.termination import EXIT_DONE, EXIT_VERDICT

from tests.unit.validation.one_pod import entry, member

BUSY = {
    "checked": 1,
    "healthy": True,
    "reason": "LightCheckPassed",
    "message": "as it was",
    "links": {"mlx5_0": {"up": True, "rate_gbps": 400.0}},
    "counters": {"mlx5_0": {"symbol_error": 0}},
    "errors": {"mlx5_0": {}},
    "bandwidth": {"mlx5_0": 390.0},
}


@pytest.fixture
def checked(fake: Any, run_pod: Any) -> Any:
    """The cluster's nodes know their uids, and pods run the check."""
    for node in fake.nodes:
        node["metadata"]["uid"] = f"uid-{node['metadata']['name']}"
    return lambda *arguments, **more: run_pod(*arguments, program=check, **more)


def report_of(fake: Any) -> Any:
    return json.loads(fake.texts("report")[KEY])


def conditions(fake: Any, node: str) -> list[tuple[str, str]]:
    (found,) = [each["status"].get("conditions", []) for each in fake.nodes if each["metadata"]["name"] == node]
    return [(condition["status"], condition["reason"]) for condition in found]


def test_one_idle_node_is_looked_at_and_what_is_known_of_busy_ones_stays(fake: Any, checked: Any) -> None:
    fake.put("report", {KEY: json.dumps({"schema_version": 1, "nodes": {"n1": BUSY, "gone": BUSY}})})
    code, message = checked(1, "n0")

    assert (code, message) == (EXIT_DONE, "pool ndh100: 1 of 2 nodes were idle, 0 of them not healthy")
    assert conditions(fake, "n0") == [("True", "BandwidthNotMeasured")], "between nobody nothing is measured"
    assert conditions(fake, "n1") == []
    (patch,) = [headers for _, path, headers, _ in fake.requests if path.startswith("/api/v1/nodes/n0/status")]
    assert patch["Content-Type"] == "application/strategic-merge-patch+json", "or it would be the only condition"
    nodes = report_of(fake)["nodes"]
    assert (set(nodes), nodes["n1"]) == ({"n0", "n1"}, BUSY)
    assert nodes["n0"]["bandwidth"] == {}


@pytest.mark.parametrize(
    "left",
    [
        "{",
        "[]",
        json.dumps({"schema_version": 2, "nodes": {"n1": BUSY}}),
        json.dumps({"schema_version": 1, "nodes": ["n1"], "members": {"gone": 7}}),
        json.dumps({"schema_version": 1, "nodes": {"n0": {"counters": "many"}, "n1": {**BUSY, "healthy": "yes"}}}),
        json.dumps({"schema_version": 1, "nodes": {"n0": {**BUSY, "counters": {"mlx5_0": {"symbol_error": "x"}}}}}),
    ],
)
def test_a_report_that_somebody_has_edited_ends_no_check_and_is_written_over(
    fake: Any, checked: Any, left: str
) -> None:
    fake.put("report", {KEY: left})
    assert checked(1, "n0")[0] == EXIT_DONE
    assert set(report_of(fake)["nodes"]) == {"n0"}


def test_a_node_that_is_gone_is_named_and_one_that_the_run_before_has_named_still_is(fake: Any, checked: Any) -> None:
    before = {"schema_version": 1, "nodes": {"n1": BUSY}, "members": {"expected": 2, "present": 1, "gone": ["n2"]}}
    fake.put("report", {KEY: json.dumps(before)})
    fake.nodes[:] = [node for node in fake.nodes if node["metadata"]["name"] == "n0"]
    _, message = checked(1, "n0")
    assert "1 of 2 nodes missing: n1, n2" in message.splitlines()
    assert report_of(fake)["members"] == {"expected": 2, "present": 1, "names": ["n0"], "gone": ["n1", "n2"]}


def test_a_link_that_is_down_is_told_by_condition_and_event(fake: Any, checked: Any, machine: Any) -> None:
    (machine.sys / "class/infiniband/mlx5_ib3/ports/1/state").write_text("1: DOWN\n")
    code, message = checked(0, "n0")

    assert code == EXIT_DONE, "the check was made: its Job has not failed"
    assert "mlx5_ib3" in message
    assert conditions(fake, "n0") == [("False", "HcaState")]
    assert [(event["reason"], event["involvedObject"]["uid"]) for event in fake.events] == [
        ("InfiniBandUnhealthy", "uid-n0")
    ]


def test_nobody_is_blamed_where_a_workload_takes_a_node_during_the_measurement(
    fake: Any, checked: Any, healthy: Any
) -> None:
    fake.put("report", {"node.n1.json.gz": entry("n1", "uid-1", healthy())})
    fake.put("report", {"rank-1.json.gz": member("n1", "uid-1")})  # and its pod is gone
    code, message = checked(0, "n0", measure=0.5)

    assert code == EXIT_DONE
    assert conditions(fake, "n0") == [("True", "BandwidthNotMeasured")]
    assert conditions(fake, "n1") == [], "only the pod on it may tell it, and that has gone"
    assert "not told, for a workload took the node: n1" in message.splitlines()
    (bandwidth,) = [found for found in report_of(fake)["checks"] if found["check"] == "rdma-write-bandwidth"]
    assert bandwidth["verdict"] == "not measured"


def test_the_first_of_those_that_have_come_leads(fake: Any, checked: Any) -> None:
    fake.put("report", {"rank-0.json.gz": member("n1", "uid-1", rank=0)})
    code, message = checked(1, "n0", measure=0.1)

    assert (code, message) == (EXIT_VERDICT, "the pod that leads has gone")
    assert KEY not in fake.texts("report")


def test_computed_limits_follow_ports_that_contradict_the_table_of_sizes(
    checked: Any, machine: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index in range(8):
        device = machine.sys / f"class/infiniband/mlx5_ib{index}"
        (device / "ports/1/rate").write_text("800 Gb/sec (4X XDR)\n")
        (device / "fw_ver").write_text("40.45.1200\n")
    judged: list[Any] = []

    def judge(node: str, facts: Any, limits: Any) -> list[Any]:
        judged.append((node, limits))
        return []

    monkeypatch.setattr(check, "judge_hcas", judge)

    checked(0, "n0")

    ((node, limits),) = judged
    before = expected["collective"]["line_gb_per_s"]
    assert (node, limits["collective"]["line_gb_per_s"]) == ("n0", 2 * before)
