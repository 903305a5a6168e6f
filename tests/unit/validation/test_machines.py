"""The record of machines: one description, bounded, versioned, and of the machine as it is now."""

import json
from typing import Any

import pytest
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.validation import machines
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.machines import Decision, Identity, Machine, Measurement
from aks_infiniband.validation.payload.look.identity import identity_of
from aks_infiniband.validation.payload.talk.config_maps import packed

from tests.unit.command_line.validations import report

SLOW = {
    "check": "rdma-write-bandwidth", "verdict": "fail", "node": "b", "device": "mlx5_3", "expected": ">= 380 Gb/s",
    "measured": 314.0, "unit": "Gb/s", "tries": None, "cause": "the HCA is slow",
}  # fmt: skip


def made(*checks: Any, finished: str = "2026-11-22T10:00:00+00:00") -> Any:
    rows = [("a", 393.0), ("b", 314.0), ("c", 395.0)]
    found = {**report(314.0, *checks), "finished": finished, "nodes": {"a": {}, "b": {}, "c": {}}}
    one = {"figure": "rdma-write-bandwidth", "device": "mlx5_3"}
    return {**found, "rdma": [{**one, "node": name, "value": value} for name, value in rows]}


def node(name: str = "b", boot: str = "boot-1", vm: str = "vm-1", born: str = "2026-11-01T00:00:00Z") -> dict[str, Any]:
    info = {"bootID": boot, "systemUUID": vm, "kernelVersion": "6.8"}
    return {"metadata": {"name": name, "creationTimestamp": born}, "status": {"nodeInfo": info}}


def recorded(*checks: Any, **changes: Any) -> dict[str, Machine]:
    return machines.with_measurements({}, machines.measurements_in(made(*checks), "validate", [node(**changes)]))


def test_a_measurement_tells_what_fell_short_beside_the_others_and_on_which_machine() -> None:
    found = recorded(SLOW)["b"].measurements[0]
    assert (found.verdict, found.identity.boot, found.identity.vm) == ("fail", "boot-1", "vm-1")
    assert found.problems[0].told() == "rdma-write-bandwidth (mlx5_3): 314.0 Gb/s, expected >= 380 Gb/s"
    assert (found.values[0].value, found.values[0].others, found.values[0].other_nodes) == (314.0, 394.0, 2)
    assert recorded(SLOW)["a"].measurements[0].verdict == "pass"


def test_a_record_is_read_as_it_was_written() -> None:
    decided = machines.with_decision(recorded(SLOW), "b", Decision(at="t", by="me", what="cordoned", why="slow"))
    assert machines.record_in(machines.contents(decided)) == decided
    assert machines.record_in({}) == {}


def test_the_newest_measurement_of_the_machine_as_it_is_now_counts() -> None:
    accepted = made(finished="2026-11-20T10:00:00+00:00")
    known = machines.known(node(), recorded(SLOW), accepted)
    assert [one.by for one in known.measurements] == [machines.ACCEPTANCE, "validate"]
    newest = machines.current(known, node())
    assert newest is not None
    assert newest.verdict == "fail"


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"boot": "boot-2"}, "of an earlier boot"),
        ({"vm": "vm-2", "boot": "boot-2"}, "of a machine that is gone"),
    ],
)
def test_a_measurement_of_an_earlier_boot_or_machine_says_so(now: dict[str, str], why: str) -> None:
    one = recorded(SLOW)["b"].measurements[0]
    assert machines.doubt(one, node()) == ""
    assert machines.doubt(one, node(**now)).startswith(why)
    assert machines.current(Machine(measurements=[one]), node(**now)) is None


def test_a_node_that_is_newer_than_the_stacks_report_was_not_measured_by_it() -> None:
    new = node(born="2026-11-23T00:00:00Z")
    (one,) = machines.known(new, {}, made()).measurements
    assert machines.doubt(one, new) == "older than the node, which joined at 2026-11-23T00:00:00Z"


@pytest.mark.parametrize(
    ("reported", "doubt"),
    [
        (identity_of(node()), ""),
        (identity_of(node(boot="boot-0")), "of an earlier boot: the machine was started again since"),
        (identity_of(node(vm="vm-0")), "of a machine that is gone: the node has another one since"),
        ({"vm": "vm-0"}, ""),
        ("vm-0", ""),
        (None, ""),
    ],
    ids=["the same", "an earlier boot", "another machine", "a part", "no object", "of an older release"],
)
def test_what_pulumi_up_has_measured_is_of_the_boot_that_its_pods_saw(reported: Any, doubt: str) -> None:
    document: Any = {**made(), "nodes": {"b": {} if reported is None else {"identity": reported}}}
    one = machines.known(node(), {}, document).measurements[0]
    assert (one.by, machines.doubt(one, node())) == (machines.ACCEPTANCE, doubt)


def test_what_is_kept_of_a_machine_and_of_all_is_bounded() -> None:
    record: dict[str, Machine] = {}
    for number in range(15):
        again = machines.measurements_in(made(SLOW, finished=f"2026-11-{10 + number}T10:00:00+00:00"), "validate")
        record = machines.with_decision(
            machines.with_measurements(record, again), "b", Decision(at=str(number), by="", what="", why="")
        )
    assert [one.at[8:10] for one in record["b"].measurements] == ["21", "22", "23", "24"]
    assert [one.at for one in record["b"].decisions] == [str(number) for number in range(3, 15)]
    many = [{**SLOW, "device": f"mlx5_{number}"} for number in range(99)]
    assert len(recorded(*many)["b"].measurements[0].problems) == 12


def test_a_check_that_failed_stands_until_the_same_check_was_made_without_failing() -> None:
    hot = {**SLOW, "check": "gpu-rate", "device": "GPU 3"}
    well = {**SLOW, "verdict": "pass", "node": None}

    def after(*runs: Any) -> list[str]:
        record: dict[str, Machine] = {}
        for number, checks in enumerate(runs):
            one = made(*checks, finished=f"2026-11-{10 + number}T10:00:00+00:00")
            record = machines.with_measurements(record, machines.measurements_in(one, "validate", [node()]))
        known = machines.known(node(), record, None)
        newest = machines.current(known, node())
        assert newest is not None
        return [newest.at[8:10], *(line.split(": ")[1] for line in machines.standing_against(known, node()))]

    assert after([SLOW], [well]) == ["11"]
    assert after([SLOW, hot], [well]) == ["10", "gpu-rate (GPU 3)"]
    assert after([SLOW], [{**well, "verdict": "not measured"}]) == ["10", "rdma-write-bandwidth (mlx5_3)"]
    assert after([hot], *[[well]] * 6) == ["10", "gpu-rate (GPU 3)"], (
        "it is not pushed out by those that do not make it"
    )
    assert after([SLOW], [{**SLOW, "node": None}]) == ["10", "rdma-write-bandwidth (mlx5_3)"], "names nobody"


def test_a_fleet_fits_into_its_config_map_and_keeps_what_was_touched_last() -> None:
    noise = [f"{number * 7919:x}" * 300 for number in range(3000)]
    record = {
        f"n{number}": Machine(
            measurements=[Measurement(at=f"{number:05}", by=noise[number][:2000], verdict="pass", identity=Identity())]
        )
        for number in range(3000)
    }
    kept = machines.contents(record)
    assert len(kept["binaryData"][MACHINES.key]) <= 900_000
    assert set(machines.record_in(kept)) <= {f"n{number}" for number in range(2000, 3000)}
    assert "n2999" in machines.record_in(kept)


BROKEN: dict[str, Any] = {
    "no JSON": "{",
    "another version": json.dumps({"schema_version": 2, "machines": {}}),
    "no machines": json.dumps({"schema_version": 1}),
    "a verdict of somebody's": json.dumps(
        {"schema_version": 1, "machines": {"b": {"measurements": [{"at": "t", "by": "x", "verdict": "splendid"}]}}}
    ),
    "a text without an end": json.dumps(
        {"schema_version": 1, "machines": {"b": {"decisions": [{"at": "t", "by": "x" * 3000, "what": "", "why": ""}]}}}
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_no_record_is_refused_and_never_half_read(case: str) -> None:
    with pytest.raises(HandwrittenError):
        machines.record_in(packed({MACHINES.key: BROKEN[case]}))
    with pytest.raises(HandwrittenError):
        machines.record_in({"binaryData": {MACHINES.key: "bm90IGd6aXA="}})
