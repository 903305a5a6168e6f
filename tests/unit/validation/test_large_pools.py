"""A pool as large as Azure makes them: its report fits into a ConfigMap, and what does not fit is said and final."""

import random
from typing import Any

import pytest
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload import validate
from aks_infiniband.validation.payload.rdma.measuring import rows
from aks_infiniband.validation.payload.talk.boards import board_names, board_of
from aks_infiniband.validation.payload.talk.config_maps import CONFIG_MAP_BYTES, size_of
from aks_infiniband.validation.payload.talk.termination import EXIT_DONE, EXIT_VERDICT
from aks_infiniband.validation.payload.validate import Outcome

from tests.unit.validation.fabric import GOOD, Fabric
from tests.unit.validation.fake_api import sections
from tests.unit.validation.one_pod import entry, member, report_of

NODES = 100
"""A scale set with one placement group cannot have more (Azure, "Working with large virtual machine scale sets")."""


@pytest.fixture
def pool(pool: Pool) -> Pool:
    return pool.changed(node_count=NODES)


def name(number: int) -> str:
    return f"aks-ndh100-33735988-vmss{number:06d}"


@pytest.fixture
def others(fake: Any, healthy: Any) -> None:
    """All nodes except that of index 0 have reported their findings, each with different figures."""
    fake.config_maps = {board: {} for board in board_names("report", NODES)}
    chance = random.Random(0)
    for number in range(1, NODES):
        facts = healthy()
        guid = {f"mlx5_ib{hca}": {"symbol_error": chance.randrange(9), "port_rcv_errors": hca} for hca in range(8)}
        facts |= {"counters": guid, "shm_bytes": (64 << 30) + chance.randrange(1 << 20)}
        board = board_of("report", number)
        fake.put(board, {f"node.{name(number)}.json.gz": entry(name(number), "uid-1", facts)})
        fake.put(board, {f"rank-{number}.json.gz": member(name(number), "uid-1", number)})


def outcome(wrong: Any = None) -> Outcome:
    """A measurement of all pairs, no two of which give the same."""
    chance, fabric = random.Random(0), Fabric(NODES, 8)
    fabric.nodes = [name(number) for number in range(NODES)]
    fabric.rails = {node: {f"mlx5_{hca}": f"010{hca + 1}:00:00.0" for hca in range(8)} for node in fabric.nodes}
    fabric.wrong = wrong or (
        lambda task, _: {figure: round(value * chance.uniform(1, 1.02), 2) for figure, value in GOOD[task.kind].items()}
    )
    measured, checks = fabric.judge({})
    found = Outcome()
    found.parts["rdma"], found.checks = rows(measured), checks
    return found


@pytest.mark.field_report("R3")
def test_the_report_of_a_hundred_nodes_takes_a_sixth_of_a_config_map(
    fake: Any, run_pod: Any, others: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "measure", lambda *_, **__: outcome())
    code, message = run_pod(0, name(0))

    assert code == EXIT_DONE, message
    report = report_of(fake)
    assert (len(report["nodes"]), len(report["rdma"])) == (NODES, NODES * 8 * 5)
    assert size_of(sections(fake.config_maps["report"])) < CONFIG_MAP_BYTES / 6


def test_so_does_one_in_which_half_of_all_hcas_fail_with_words_of_their_own(
    fake: Any, run_pod: Any, others: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(0)
    half = {name(number) for number in range(0, NODES, 2)}
    error = "ib_write_bw ended with code 1: Completion with error at client {}"
    found = outcome(lambda task, _: error.format(chance.random()) if task.pair.client.node in half else None)
    monkeypatch.setattr(validate, "measure", lambda *_, **__: found)
    code, _ = run_pod(0, name(0))

    assert code == EXIT_VERDICT
    assert len(report_of(fake)["checks"]) > NODES * 4
    assert size_of(sections(fake.config_maps["report"])) < CONFIG_MAP_BYTES / 3


@pytest.mark.field_report("R3")
def test_a_report_that_does_not_fit_ends_the_job_and_says_its_size_and_the_limit(fake: Any, run_pod: Any) -> None:
    fake.config_maps = {board: {} for board in board_names("report", NODES)}
    fake.config_maps["report"]["somebody's"] = "x" * (CONFIG_MAP_BYTES - 100)
    code, message = run_pod(0, name(0))

    assert code == EXIT_VERDICT, "trying again would give the same answer"
    assert "ConfigMap ns/report: status 422: it would have 1,0" in message
    assert "bytes, the limit is 1,048,576 (" in message
