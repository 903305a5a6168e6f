"""A cluster of Azure's public guide, with its node pools: adopted, brought up, and destroyed without them."""

import json
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.existing import by_hand
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

POOL: Final = "azure-native:containerservice:AgentPool"
TAKEN: Final[dict[str, Any]] = {
    "count": 2,
    "vm_size": "Standard_ND96isr_H100_v5",
    "gpu_profile": {"driver": "None"},
    "node_taints": ["sku=gpu:NoSchedule"],
    "node_labels": {"team": "ml"},
    "tags": {"owner": "ml"},
    "kubelet_config": {"cpu_manager_policy": "static"},
}
"""With what the guide asks for, and with what a stack file has keys for and not."""
ADOPT: Final = "aks-infiniband adopt lab --pool ndh100 --resource-group guide --cluster guide"


@pytest.fixture(scope="module")
def theirs(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The data centre, in which others have made the cluster with one pool and both operators."""
    return by_hand.make_in_azure(rehearse_ours, tmp_path_factory.mktemp("by-hand"), {"ndh100": TAKEN})


@pytest.fixture(scope="module")
def said(theirs: Stack) -> dict[str, Any]:
    """What `adopt` says, as JSON."""
    project = theirs.rehearsal.project
    found: dict[str, Any] = json.loads(shell(theirs.rehearsal, f"{ADOPT} --output json || [ $? = 1 ]", folder=project))
    return found


@pytest.fixture(scope="module")
def adopted(theirs: Stack, said: dict[str, Any]) -> Stack:
    """The stack that `adopt` has written."""
    assert said["files"], said
    return Stack(replace(theirs.rehearsal, stack="lab"))


def pools(stack: Stack) -> dict[str, Any]:
    """The pools in Azure, without what changes by itself."""
    return {pool["id"].rpartition("/")[2]: pool["outputs"] for pool in stack.azure(POOL)}


def imported(stack: Stack) -> None:
    engine = stack.rehearsal.engine()
    file = stack.rehearsal.project / "Pulumi.lab.import.json"
    under_way = engine.run("import", "--file", str(file), "--yes", "--skip-preview", "--generate-code=false")
    list(under_way.events())
    assert under_way.exit_code == 0, under_way.log.read_text()


def test_it_describes_what_is_there_and_says_what_stays(said: dict[str, Any], theirs: Stack) -> None:
    (pool,) = said["pools"]
    assert pool["taken_over"], said
    assert [change.partition(" ")[0] for change in pool["changes"]] == [
        "upgradeSettings",
        "orchestratorVersion",
        "powerState",
    ]
    assert pool["stays"] == ["kubeletConfig: {cpuManagerPolicy: static}"]
    assert [kept.partition(" (")[0] for kept in said["theirs"]] == [
        "NicClusterPolicy nic-cluster-policy",
        "ClusterPolicy cluster-policy",
    ]
    config = yaml.safe_load((theirs.rehearsal.project / "Pulumi.lab.yaml").read_text())["config"]
    assert config["aks-infiniband:networkOperator"] == {"existing": True, "mode": "rdma-shared"}
    assert config["aks-infiniband:gpuOperator"] == {"existing": True}
    (keys,) = config["aks-infiniband:pools"]
    assert keys["taints"] == ["sku=gpu:NoSchedule"]
    assert keys["labels"] == {"team": "ml"}


def test_without_the_import_a_preview_refuses_to_make_the_pool(adopted: Stack) -> None:
    refused = adopted.preview()
    assert not refused.succeeded
    assert "node pool ndh100 of cluster guide is not in the state of this stack" in refused.errors


def test_after_the_import_nothing_is_replaced_or_deleted_and_the_pool_changes_as_it_was_said(adopted: Stack) -> None:
    imported(adopted)
    planned = adopted.preview()
    assert planned.succeeded, planned.said
    assert {operation for names in planned.plan.values() for operation in names} == {"create", "update"}
    updated = [step for step in planned.steps if step.operation == "update"]
    assert [step.name for step in updated] == ["rdma-ndh100"]


def test_it_comes_up_and_passes_and_a_second_update_changes_nothing(adopted: Stack) -> None:
    before, pods = pools(adopted), by_hand.pods(adopted)
    up = adopted.up()
    assert up.succeeded, up.said
    assert adopted.verdicts() == {"ndh100": "pass"}
    assert adopted.up().changed == {}
    after = pools(adopted)
    changed = {key for key, value in after["ndh100"].items() if value != before["ndh100"].get(key)}
    assert changed == {"upgradeSettings", "eTag"}
    assert after["ndh100"]["kubeletConfig"] == {"cpuManagerPolicy": "static"}
    assert after["nodepool1"] == before["nodepool1"]
    assert pods.items() <= by_hand.pods(adopted).items()


def test_a_destroy_leaves_the_pool_and_what_others_made(adopted: Stack) -> None:
    before, pods = pools(adopted), by_hand.pods(adopted)
    refused = adopted.destroy()
    assert not refused.succeeded
    assert "protect" in refused.errors
    destroyed = adopted.run("destroy", "--exclude-protected")
    assert destroyed.succeeded, destroyed.said
    assert pools(adopted) == before
    assert pods.items() <= by_hand.pods(adopted).items()
