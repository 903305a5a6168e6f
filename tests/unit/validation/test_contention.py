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
from aks_infiniband.validation.payload.rdma.judge import judge_contention
from aks_infiniband.validation.payload.rdma.measuring import rows
from aks_infiniband.validation.payload.report.acceptance import compare, worst_values
from aks_infiniband.validation.payload.report.document import Parts
from aks_infiniband.validation.payload.validate import Outcome

from tests.unit.validation.fabric import Fabric

WRITE = "rdma-write-bandwidth"


def test_a_sound_pool_is_measured_a_round_in_each_step_and_bandwidth_on_all_rails_side_by_side(thresholds: Any) -> None:
    fabric = Fabric(4, 8)
    measured, _ = fabric.judge(thresholds)
    latency = [{"kind": kind, "rail": rail} for rail in range(8) for kind in ("read-latency", "ping-pong")]
    bandwidth = [{"kind": kind, "side_by_side": True} for kind in ("write-bandwidth", "read-bandwidth")]
    told = [{key: value for key, value in step.items() if key not in ("turn", "seconds")} for step in fabric.steps]
    assert told == [*latency, *bandwidth]
    assert [step["turn"] for step in fabric.steps] == list(range(18))
    found = {row["figure"]: row.get("side_by_side") for row in rows(measured)}
    assert (found[WRITE], found["rdma-read-latency"]) == (393.1, None)
    check, _ = judge_contention(measured, thresholds)
    assert (check["check"], check["verdict"], check["device"]) == ("rdma-contention", "pass", WRITE)
    assert check["measured"] == "393.1 Gb/s"


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
