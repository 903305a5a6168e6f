"""Tries, silence, and no run of the all-reduce; tests/unit/validation/cases/run.yaml has those that are judged."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.collective.failures import explained
from aks_infiniband.validation.payload.collective.judge import judge_collective
from aks_infiniband.validation.payload.collective.results import merged, node_entry
from aks_infiniband.validation.payload.programs.endings import CAUSES, SILENT_NODE

from tests.unit.validation.collective_runs import ADDRESSES, EXPECTED, NODES, judged, run


def test_every_try_is_told() -> None:
    tries = [{"value": 170.0, "error": None}, {"value": 187.0, "error": None}]
    (check,) = judged(run(tries=tries))["all-reduce"]
    assert check["tries"] == tries


def test_a_run_that_nobody_made_is_not_measured() -> None:
    verdicts = {check["check"]: check["verdict"] for check in judge_collective({"runs": []}, EXPECTED)}
    assert verdicts == dict.fromkeys(["collective-transport", "all-reduce", "collective-sum"], "not measured")


@pytest.mark.parametrize(
    ("replaced", "measured", "cause"),
    [
        ({}, SILENT_NODE, CAUSES["silent"]),
        ({"aks-b": 3}, "ended in the middle of it, 3 times", "OOMKilled, exit code 137"),
    ],
    ids=["nothing came back", "its pods end again and again"],
)
def test_a_node_that_is_silent_is_named_and_not_those_that_saw_it_go(
    replaced: dict[str, int], measured: str, cause: str
) -> None:
    seen: Any = {"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0}
    told = explained("ended with exit code 1", own=True, output="Connection closed by remote peer")
    ranks: Any = [{**seen, "failure": told}]
    entry = node_entry("aks-a", 0, "ring", ranks=ranks, logs=[""], seconds=9.0)
    addresses = {node: address for address, node in ADDRESSES.items() if node in NODES}
    ended = merged([entry], tuning="ring", ranks_per_node=1, addresses=addresses, replaced=replaced)
    checks = judged({**run(), "failures": ended["failures"]})["collective"]
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert check["node"] == "aks-b"
    assert measured in str(check["measured"])
    assert cause in str(check["cause"])
