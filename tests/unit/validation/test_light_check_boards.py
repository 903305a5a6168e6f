"""The pods of a large pool's check divide what they write as those of its validation do; who leads alone reads all."""

import json
from typing import Any

import pytest
from aks_infiniband.facts.pool import Pool
from aks_infiniband.light_check.documents import boards
from aks_infiniband.validation.payload.light_check import check
from aks_infiniband.validation.payload.light_check.state import KEY
from aks_infiniband.validation.payload.talk.termination import EXIT_DONE, EXIT_VERDICT

from tests.unit.validation.one_pod import entry, member

BOARDS = ["report", "report-1", "report-2"]
"""ConfigMaps of 40 pods."""


@pytest.fixture
def pool(pool: Pool) -> Pool:
    return pool.changed(node_count=40)


@pytest.fixture
def checked(fake: Any, run_pod: Any) -> Any:
    """Pods run the check; the cluster's nodes know their uids."""
    fake.config_maps = {board: {} for board in BOARDS}
    for node in fake.nodes:
        node["metadata"]["uid"] = f"uid-{node['metadata']['name']}"
    return lambda *arguments, **more: run_pod(*arguments, program=check, **more)


def used(fake: Any) -> set[str]:
    """The ConfigMaps that requests were for; not those for the first one's annotations alone, which hold the plan."""
    whole = [path for _, path, headers, body in fake.requests if body or "Metadata" not in headers["Accept"]]
    return {path.partition("?")[0].rpartition("/")[2] for path in whole if "/configmaps/" in path}


@pytest.mark.parametrize(("rank", "own"), [(15, "report"), (17, "report-1"), (39, "report-2")])
def test_a_pod_that_is_not_the_first_of_its_sixteen_reads_and_writes_their_config_map_alone(
    fake: Any, checked: Any, rank: int, own: str
) -> None:
    fake.put(own, {"rank-x.json.gz": member("n1", "uid-1", rank=rank - 1)})
    code, message = checked(rank, "n0", measure=0.1)
    assert (code, message) == (EXIT_VERDICT, "the pod that leads has gone")
    assert used(fake) == {own}


def test_the_first_of_its_sixteen_follows_where_one_of_the_others_is_before_it(fake: Any, checked: Any) -> None:
    fake.put("report", {"rank-3.json.gz": member("n1", "uid-1", rank=3)})
    assert checked(32, "n0", measure=0.1) == (EXIT_VERDICT, "the pod that leads has gone")
    assert KEY not in fake.texts("report")


def test_who_leads_finds_all_who_have_come_and_leaves_the_report_where_it_is_read(
    fake: Any, checked: Any, healthy: Any
) -> None:
    fake.put("report-2", {"node.n1.json.gz": entry("n1", "uid-1", healthy())})
    fake.put("report-2", {"rank-33.json.gz": member("n1", "uid-1", rank=33)})  # and does not answer
    for board in BOARDS:
        fake.put(board, {"node.old.json.gz": entry("old", "uid-0", healthy())})
    code, message = checked(20, "n0", measure=0.5)

    looked = "pool ndh100: 2 of 40 nodes were idle, 0 of them not healthy"
    assert (code, message) == (
        EXIT_DONE,
        f"{looked}\n38 of 40 nodes missing\nnot told, for a workload took the node: n1",
    )
    assert {board: set(fake.config_maps[board]) for board in BOARDS} == {
        "report": {KEY},
        "report-1": {"node.n0.json.gz", "rank-20.json.gz"},
        "report-2": {"node.n1.json.gz", "rank-33.json.gz"},
    }
    assert set(json.loads(fake.texts("report")[KEY])["nodes"]) == {"n0", "n1"}


def test_a_pool_has_as_many_as_its_pods_need_and_the_first_is_the_one_that_is_read(pool: Pool) -> None:
    assert boards(pool) == ["ndh100-light-check", "ndh100-light-check-1", "ndh100-light-check-2"]
    assert boards(pool.changed(node_count=16)) == ["ndh100-light-check"]
