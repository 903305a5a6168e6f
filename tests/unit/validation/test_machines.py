"""The record of machines: bounded and versioned; tests/unit/validation/cases/record.yaml has its measurements."""

import json
from typing import Any

import pytest
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.validation import machines
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.machines import Decision, Identity, Machine, Measurement
from aks_infiniband.validation.payload.talk.config_maps import packed

from tests.unit.validation.cases.remembering import SLOW, machine_node, report_on


def recorded(*checks: Any) -> dict[str, Machine]:
    return machines.with_measurements({}, machines.measurements_in(report_on(*checks), "validate", [machine_node()]))


def test_a_record_is_read_as_it_was_written() -> None:
    decided = machines.with_decision(recorded(SLOW), "b", Decision(at="t", by="me", what="cordoned", why="slow"))
    assert machines.record_in(machines.contents(decided)) == decided
    assert machines.record_in({}) == {}


def test_what_is_kept_of_a_machine_and_of_all_is_bounded() -> None:
    record: dict[str, Machine] = {}
    for number in range(15):
        again = machines.measurements_in(report_on(SLOW, finished=f"2026-11-{10 + number}T10:00:00+00:00"), "validate")
        record = machines.with_decision(
            machines.with_measurements(record, again), "b", Decision(at=str(number), by="", what="", why="")
        )
    assert [one.at[8:10] for one in record["b"].measurements] == ["21", "22", "23", "24"]
    assert [one.at for one in record["b"].decisions] == [str(number) for number in range(3, 15)]
    many = [{**SLOW, "device": f"mlx5_{number}"} for number in range(99)]
    assert len(recorded(*many)["b"].measurements[0].problems) == 12


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
