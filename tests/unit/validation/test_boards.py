"""The pods of a large pool divide what they write among several ConfigMaps, and index 0 puts it together."""

import json
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.talk.boards import PLAN_ANNOTATION, PODS, board_names, board_of
from aks_infiniband.validation.payload.talk.config_maps import compressed
from aks_infiniband.validation.payload.talk.termination import EXIT_DONE

from tests.unit.validation.one_pod import entry, report_of
from tests.unit.validation.one_validation import CONFIG_MAP

NODES = 40
BOARDS = ["report", "report-1", "report-2"]


@pytest.fixture
def pool(pool: Pool) -> Pool:
    return pool.changed(node_count=NODES)


@pytest.fixture
def over(fake: Any) -> None:
    """Index 0 has released all pods, so that a pod that follows leaves its words and ends."""
    fake.config_maps = {board: {} for board in BOARDS}
    plan = {"run": "uid-1", "id": "end", "step": {"end": True}, "members": {}}
    fake.annotations["report"] = {PLAN_ANNOTATION: compressed(json.dumps(plan))}


def asked(fake: Any, method: str) -> list[str]:
    """The ConfigMaps that requests of a method were for; not those for their annotations alone."""
    whole = [
        urlsplit(path).path for verb, path, headers, _ in fake.requests
        if verb == method and (verb == "PATCH" or "Metadata" not in headers["Accept"])
    ]  # fmt: skip
    return [path.rpartition("/")[2] for path in whole if "/configmaps/" in path]


@pytest.mark.field_report("R3")
def test_no_more_than_sixteen_pods_write_into_one_config_map_and_none_reads_what_all_have_written(
    fake: Any, run_pod: Any, over: None
) -> None:
    writers: Counter[str] = Counter()
    for rank in range(1, NODES):
        fake.requests.clear()
        assert run_pod(rank, f"n{rank}")[0] == EXIT_DONE
        (board,) = {*asked(fake, "PATCH"), *asked(fake, "GET")}
        writers[board] += 1
    assert writers == {"report": PODS - 1, "report-1": PODS, "report-2": NODES - 2 * PODS}


def test_index_0_judges_what_lies_in_all_of_them_and_clears_what_other_runs_have_left(
    fake: Any, run_pod: Any, over: None, healthy: Any
) -> None:
    for rank in range(1, NODES):
        run_pod(rank, f"n{rank}")
    of_this_run = {board: set(data) for board, data in fake.config_maps.items()}
    broken = entry("n1", "uid-0", {**healthy(), "hcas": []})  # n1 had another index in an earlier run
    fake.put("report-2", {"node.n1.json.gz": broken, "rank-99.json.gz": "{}"})
    code, message = run_pod(0, "n0")

    assert (code, report_of(fake)["verdict"]) == (EXIT_DONE, "pass"), message
    assert message.endswith(" (40 of 40 nodes, 320 of 320 HCAs)")
    assert {board: set(data) for board, data in fake.config_maps.items()} == {
        **of_this_run,
        "report": of_this_run["report"] | {"report.json.gz", "node.n0.json.gz", "rank-0.json.gz"},
    }


def test_an_index_has_the_same_config_map_however_many_pods_there_are() -> None:
    for pods in (1, 16, 17, 32, 33, 100):
        assert {board_of("report", rank) for rank in range(pods)} == set(board_names("report", pods))
    assert [len(board_names("report", pods)) for pods in (1, 16, 17, 32, 33, 100)] == [1, 1, 2, 2, 3, 7]


def test_the_component_makes_them_and_lets_the_pods_fill_them_and_nothing_else(validated: Any) -> None:
    deployment = validated()
    names = [f"ndh100-validation-{board}" for board in BOARDS]
    made = {found.name: found for found in deployment.all(CONFIG_MAP) if "-payload" not in found.name}
    assert {name: found.inputs["metadata"]["name"] for name, found in made.items()} == dict(
        zip((f"ndh100-{board}" for board in BOARDS), names, strict=True)
    )
    role = deployment.one("kubernetes:rbac.authorization.k8s.io/v1:Role")
    assert role.inputs["rules"][0]["resourceNames"] == names
    assert made.keys() <= deployment.one("kubernetes:batch/v1:Job").dependencies
    for found in made.values():
        assert found.request["ignoreChanges"] == ["data", "binaryData"]
