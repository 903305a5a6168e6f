"""The copies of a pool in the engine's state, and the tables of the page."""

from typing import Any

from benchmark.program import Cost as ProgramCost
from benchmark.scale.engine import Cost, copied
from benchmark.scale.machines import Cost as MachineCost
from benchmark.scale.measuring import Usage, measured
from benchmark.scale.scale_page import machine_row, pool_rows, rendered

JOB = "kubernetes:batch/v1:Job"


def resource(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"urn": f"urn:pulumi:dev::project::{kind}::{name}", "type": kind, **more}


def test_every_resource_of_the_first_pool_is_there_once_for_each_and_jobs_have_the_names_that_they_get() -> None:
    def named(name: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "namespace": "ns"}}

    job = {"inputs": named("old"), "outputs": {**named("old"), "__inputs": named("old")}, "id": "ns/old"}
    state = {"resources": [resource("Namespace", "rdma"), resource(JOB, "rdma-pool000-validate", **job)]}
    names = {"rdma-pool000-validate": "pool000-validate-a1", "rdma-pool001-validate": "pool001-validate-b2"}
    first, *jobs = copied(state, 2, names)["resources"]
    assert first["urn"].endswith("::rdma")
    assert [made["urn"].rpartition("::")[2] for made in jobs] == list(names)
    assert [made["id"] for made in jobs] == [f"ns/{name}" for name in names.values()]
    assert jobs[1]["outputs"]["__inputs"]["metadata"]["name"] == "pool001-validate-b2"


def test_the_state_of_a_further_pool_is_what_it_adds() -> None:
    took = Usage(seconds=3, cpu_seconds=2)
    costs = [
        Cost(
            pools=pools,
            resources=40 + 8 * pools,
            state_bytes=700_000 + 100_000 * pools,
            new=took,
            preview=took,
            up=took,
        )
        for pools in (1, 11)
    ]
    alone, eleven = pool_rows([ProgramCost(1, 45, 1.4, 124), ProgramCost(11, 125, 1.9, 152)], costs)
    assert alone == ["1", "48", "–", "1.4", "124", "3 (2)", "3 (2)", "3 (2)"]
    assert eleven[:3] == ["11", "128", "100"]


def test_a_table_takes_the_place_of_the_one_before() -> None:
    cost = MachineCost(machines=10, usage=Usage(90, 20, 1500), parts={"kube-apiserver": 6.0, "etcd": 2.0})
    page = "before\n<!-- machines -->\nold\n<!-- end machines -->\nafter"
    found = rendered(page, "machines", [machine_row(cost)])
    assert found.startswith("before\n<!-- machines -->\n| machines |")
    assert "| 10 | 2 | 20 | 2.0 | 1500 | kube-apiserver 6, etcd 2 |" in found
    assert "old" not in found


def test_the_time_of_the_processor_is_that_of_the_work() -> None:
    with measured() as usage:
        sum(range(3_000_000))
    assert usage.cpu_seconds > 0
