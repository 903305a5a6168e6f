"""The example of a platform team's own AKS program. The tests follow one another."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.rehearsal.stacks.conftest import Stack

from .conftest import program

pytestmark = pytest.mark.long

EXAMPLE, STACK = "own-aks", "hpc"


@pytest.fixture(scope="module")
def brought_up(example: Stack) -> Outcome:
    """Brought up by an older version of the program, which called the pool mpi."""
    today = program(example).read_text()
    older = today.replace('"hb",\n    args=rdma.Inf', '"mpi",\n    args=rdma.Inf')
    last_spring = older.replace('[pulumi.Alias(name="mpi")]', "[]")
    assert last_spring.count('"mpi",') == 1
    program(example).write_text(last_spring)
    outcome = example.up()
    program(example).write_text(today)
    assert outcome.succeeded, outcome.said
    return outcome


def configured(example: Stack, **settings: Any) -> None:
    document = yaml.safe_load(example.file.read_text())
    document["config"] |= {f"own-aks:{key}": value for key, value in settings.items()}
    example.file.write_text(yaml.safe_dump(document))


def test_the_teams_own_cluster_gets_machines_that_offer_rdma(example: Stack, brought_up: Outcome) -> None:
    nodes = example.nodes(agentpool="hb")
    assert [node["status"]["allocatable"]["rdma/shared_ib"] for node in nodes] == ["63"] * 2
    assert all({"key": "sku", "value": "hpc", "effect": "NoSchedule"} in node["spec"]["taints"] for node in nodes)


def test_a_component_is_renamed_with_an_alias_and_nothing_is_made_anew(example: Stack, brought_up: Outcome) -> None:
    assert "mpi" in brought_up.done
    renamed = example.up()
    assert renamed.succeeded, renamed.said
    assert renamed.changed == {}
    assert "hb" in renamed.done


def test_a_transform_reaches_what_the_component_makes(example: Stack, brought_up: Outcome) -> None:
    pools = example.azure("azure-native:containerservice:AgentPool")
    (pool,) = [record for record in pools if record["id"].endswith("/agentPools/hb")]
    assert pool["inputs"]["tags"] == {"cost-centre": "research"}


def test_the_sample_job_is_applied_as_it_is_and_completes_on_every_machine(
    example: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    sample = completed_sample(example.rehearsal, "hb", output="sampleJob", namespace="simulations", folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("mlx5_0: 4: ACTIVE, 400 Gb/sec (4X NDR)") == 2


def test_a_protected_pool_is_not_replaced(example: Stack, brought_up: Outcome) -> None:
    machines = {node["metadata"]["uid"] for node in example.nodes(agentpool="hb")}
    today = program(example).read_text()
    program(example).write_text(today.replace("Standard_HB176rs_v4", "Standard_HX176rs"))
    refused = example.up()
    program(example).write_text(today)
    assert not refused.succeeded
    assert "protect" in refused.said
    assert {node["metadata"]["uid"] for node in example.nodes(agentpool="hb")} == machines
    again = example.up()
    assert again.succeeded, again.said


def test_once_it_is_not_protected_any_more_all_of_it_goes(example: Stack, brought_up: Outcome) -> None:
    configured(example, protectPool=False)
    freed = example.up()
    assert freed.succeeded, freed.said
    destroyed = example.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert example.nodes() == []
