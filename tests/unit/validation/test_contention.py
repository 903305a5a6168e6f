"""All rails are measured at once; the amount that HCAs then take from each other is reported, and is not their
fault.
"""

import sys
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.programs.clients import Client, Limits, ask
from aks_infiniband.validation.payload.programs.process import Running
from aks_infiniband.validation.payload.rdma import tools as perftest
from aks_infiniband.validation.payload.rdma.judge import judge_contention, judge_rdma
from aks_infiniband.validation.payload.rdma.measuring import measure, rows
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.report.acceptance import compare, worst_values
from aks_infiniband.validation.payload.report.document import Parts, message_of
from aks_infiniband.validation.payload.say.checks import verdict_of
from aks_infiniband.validation.payload.talk.time_left import Time
from aks_infiniband.validation.payload.validate import Outcome

from tests.unit.validation.fabric import Fabric, bad_ones

WRITE = "rdma-write-bandwidth"


def sharing(*ends: End) -> Any:
    """HCAs that have half their bandwidth while all rails are used."""
    return lambda task, _: (
        {WRITE: 196.5} if task.side_by_side and task.kind == "write-bandwidth" and {*ends} & {*task.pair} else None
    )


def everywhere(fabric: Fabric, *devices: str) -> list[End]:
    return [End(node, device) for node in fabric.nodes for device in devices]


def steps_of(fabric: Fabric, thresholds: Any) -> tuple[Any, list[Any]]:
    """The nodes' steps, and the measurements."""
    asked: list[Any] = []
    do = fabric.do

    def noted(step: Any) -> Any:
        asked.append(step)
        return do(step)

    fabric.do = noted  # type: ignore[method-assign]
    return fabric.judge(thresholds)[0], asked


def test_a_sound_pool_is_measured_a_round_in_each_step_and_bandwidth_on_all_rails_side_by_side(thresholds: Any) -> None:
    measured, asked = steps_of(Fabric(4, 8), thresholds)
    latency = [{"kind": kind, "rail": rail} for rail in range(8) for kind in ("read-latency", "ping-pong")]
    bandwidth = [{"kind": kind, "side_by_side": True} for kind in ("write-bandwidth", "read-bandwidth")]
    told = [{key: value for key, value in step.items() if key not in ("turn", "seconds")} for step in asked]
    assert told == [*latency, *bandwidth]
    assert [step["turn"] for step in asked] == list(range(18))
    found = {row["figure"]: row.get("side_by_side") for row in rows(measured)}
    assert (found[WRITE], found["rdma-read-latency"]) == (393.1, None)
    check, _ = judge_contention(measured, thresholds)
    assert (check["check"], check["verdict"], check["device"]) == ("rdma-contention", "pass", WRITE)
    assert check["measured"] == "393.1 Gb/s"


def test_a_machine_with_one_hca_has_nothing_to_measure_side_by_side(thresholds: Any) -> None:
    measured, asked = steps_of(Fabric(4, 1), thresholds)
    assert not any("side_by_side" in step for step in asked)
    assert judge_contention(measured, thresholds) == []


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_hcas_that_share_a_link_pass_and_the_report_says_what_they_give_together_and_alone(
    thresholds: Any, nodes: int
) -> None:
    fabric = Fabric(nodes, 8)
    fabric.wrong = sharing(*everywhere(fabric, "ib0", "ib1"))
    measured, checks = fabric.judge(thresholds)

    assert bad_ones(checks) == []
    check, of_reads = judge_contention(measured, thresholds)
    assert (check["verdict"], of_reads["verdict"]) == ("not judged", "pass")
    assert check["measured"] == "196.5 Gb/s side by side, 393.1 Gb/s alone"
    assert f"contention on {nodes} nodes ({', '.join(fabric.nodes)}), of ib0, ib1" in str(check["cause"])
    assert verdict_of([*checks, check]) == "pass"
    row = next(row for row in rows(measured) if (row["figure"], row["device"]) == (WRITE, "ib0"))
    assert (row["value"], row["side_by_side"], row["tries"]) == (393.1, 196.5, [{"value": 393.1, "error": None}])


def test_what_is_a_little_less_than_usual_is_measured_alone_so_that_a_pool_accepted_before_is_not_worse(
    thresholds: Any,
) -> None:
    fabric = Fabric(2, 8)
    fabric.wrong = lambda task, _: {WRITE: 372.0} if task.side_by_side and task.kind == "write-bandwidth" else None
    measured, checks = fabric.judge(thresholds)
    parts: Parts = {**Outcome().parts, "rdma": rows(measured)}
    values = worst_values(parts, checks, thresholds)
    before: Any = {"finished": "by a version that measured each rail alone", "values": {WRITE: 393.1}}
    assert compare(before, values, thresholds) == []
    assert thresholds[WRITE]["fail"] < 372 < 0.95 * 393.1


@pytest.mark.parametrize("limits", [{}, {WRITE: {"unit": "Gb/s", "better": "higher", "basis": "given"}}])
def test_without_a_limit_nothing_says_that_a_figure_beside_others_is_enough(limits: Any) -> None:
    fabric = Fabric(2, 2)
    fabric.wrong = sharing(*everywhere(fabric, "ib0", "ib1"))
    measured, _ = fabric.judge(limits)
    assert {row["value"] for row in rows(measured) if row["figure"] == WRITE} == {393.1}


def test_contention_has_a_line_of_its_own_in_the_message(thresholds: Any) -> None:
    fabric = Fabric(2, 2)
    fabric.wrong = sharing(*everywhere(fabric, "ib0", "ib1"))
    measured, checks = fabric.judge(thresholds)
    every = [*checks, *judge_contention(measured, thresholds)]
    report: Any = {"pool": "p", "verdict": "pass", "coverage": {"summary": "all"}, "checks": every}
    head, line = message_of(report).splitlines()
    assert head == "pool p: pass (all)"
    assert line.startswith(f"not judged: rdma-contention on {WRITE}: ")
    assert "measured 196.5 Gb/s side by side, 393.1 Gb/s alone - contention on 2 nodes" in line


@pytest.mark.parametrize("nodes", [2, 3, 50])
@pytest.mark.parametrize("devices", [(), ("ib0", "ib1"), tuple(f"ib{n}" for n in range(8))])
def test_more_nodes_take_no_more_steps(thresholds: Any, nodes: int, devices: tuple[str, ...]) -> None:
    fabric = Fabric(nodes, 8)
    fabric.wrong = sharing(*everywhere(fabric, *devices))
    _, asked = steps_of(fabric, thresholds)
    assert sum("side_by_side" in step for step in asked) == 2
    assert sum("rail" in step for step in asked) == 2 * 8
    assert sum("pairs" in step for step in asked) == len(devices)


@pytest.mark.parametrize("devices", [("ib0", "ib1"), ("ib0", "ib1", "ib2", "ib3")])
def test_what_only_fell_short_beside_others_when_time_was_up_is_not_measured_and_no_failure(
    thresholds: Any, devices: tuple[str, ...]
) -> None:
    fabric, done = Fabric(3, 4), list[Any]()
    fabric.wrong = sharing(*everywhere(fabric, *devices))

    def do(step: Any) -> Any:
        done.append(step)
        return fabric.do(step)

    first = 2 * 4 + 2  # latency of each rail, and all of them side by side
    measured = measure(
        do, fabric.rails, thresholds, tries=3, time=Time(lambda: first - len(done), lambda tool_seconds: 0)
    )
    checks = [check for check in judge_rdma(measured, thresholds, {}) if check["verdict"] != "pass"]
    assert {(check["check"], check["verdict"]) for check in checks} == {(WRITE, "not measured")}
    assert "may be why" in str(checks[0]["cause"])
    assert {row["side_by_side"] for row in rows(measured) if row["figure"] == WRITE} >= {196.5}


@pytest.mark.parametrize("kind", sorted(perftest.KINDS))
def test_bandwidth_is_measured_for_a_time_beside_others_and_for_5000_messages_alone(kind: str) -> None:
    alone = perftest.command(kind, "mlx5_ib0", 18515, "10.244.1.7")
    beside = perftest.command(kind, "mlx5_ib0", 18515, "10.244.1.7", side_by_side=True)
    if not kind.endswith("bandwidth"):
        assert beside == alone
        return
    seconds, margin = (int(beside[beside.index(name) + 1]) for name in ("-D", "-f"))
    assert seconds > 2 * margin >= 2, "perftest asks for the first; whoever begins a second late is still counted"
    assert alone[alone.index("-n") + 1] == str(perftest.ITERATIONS)
    assert "-n" not in beside
    assert "-D" not in alone


def test_clients_run_at_the_same_time_and_the_one_whose_server_is_late_is_started_again(tmp_path: Path) -> None:
    program = """
import pathlib, sys, time
own, other = (pathlib.Path(name) for name in sys.argv[1:])
late = own.name == "b" and not own.with_suffix(".tried").exists()
if late:
    own.with_suffix(".tried").touch()
    sys.exit("no server")
own.touch()
while not other.exists():
    time.sleep(0.01)
print(own.name)
"""

    def start(own: str, other: str) -> Running:
        return Running([sys.executable, "-c", program, str(tmp_path / own), str(tmp_path / other)])

    answers = ask(
        [Client(lambda: start("a", "b"), "10.0.0.1", 1), Client(lambda: start("b", "a"), "10.0.0.1", 2)],
        Limits(connect_seconds=60, tool_seconds=60),
        proc=tmp_path,
        waiting=lambda ended: "no server" in ended.output,
        figures_of=lambda output: {output.strip(): 1.0},
    )
    assert answers == [{"values": {"a": 1.0}, "error": None}, {"values": {"b": 1.0}, "error": None}]
