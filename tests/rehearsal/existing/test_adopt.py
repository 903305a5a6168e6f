"""A cluster of Azure's public guide with node pools, one of them without InfiniBand: adopted, brought up, upgraded, and
destroyed without them.
"""

import json
from dataclasses import replace
from typing import Any, Final

import pytest
import yaml

from rehearsal.azure.cloud import NODE_IMAGE_RELEASE
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.existing import by_hand
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack
from tests.rehearsal.stacks.upgrading import images, upgrade, upgrading

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

POOL: Final = "azure-native:containerservice:AgentPool"
AZURE: Final = "--resource-group guide --cluster guide"
H100: Final[dict[str, Any]] = {
    "count": 2,
    "vm_size": "Standard_ND96isr_H100_v5",
    "gpu_profile": {"driver": "None"},
    "node_taints": ["sku=gpu:NoSchedule"],
    "node_labels": {"team": "ml"},
    "tags": {"owner": "ml"},
    "kubelet_config": {"cpu_manager_policy": "static"},
}
"""A pool with the guide's values, and with values for which a stack file has keys, and others."""
TAKEN: Final = {
    "ndh100": H100,
    "hbv4": {"count": 2, "vm_size": "Standard_HB176rs_v4"},
    "work": {"count": 1, "vm_size": "Standard_D8s_v5"},
}
"""The pools by name, the last without InfiniBand."""
ADOPT: Final = f"aks-infiniband adopt lab {' '.join(f'--pool {name}' for name in TAKEN)} {AZURE}"


@pytest.fixture(scope="module")
def theirs(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The data centre, in which others have made the cluster with one pool and both operators."""
    return by_hand.make_in_azure(rehearse_ours, tmp_path_factory.mktemp("by-hand"), TAKEN)


@pytest.fixture(scope="module")
def said(theirs: Stack) -> dict[str, Any]:
    """The output of `adopt`, as JSON."""
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
    assert [(pool["name"], pool["taken_over"]) for pool in said["pools"]] == [(name, True) for name in TAKEN]
    moving = ["orchestratorVersion", "powerState"]
    changes = [[change.partition(" ")[0] for change in pool["changes"]] for pool in said["pools"]]
    assert changes == [["upgradeSettings", *moving], ["upgradeSettings", *moving], moving]
    assert [pool["stays"] for pool in said["pools"]] == [["kubeletConfig: {cpuManagerPolicy: static}"], [], []]
    assert [kept.partition(" (")[0] for kept in said["theirs"]] == [
        "NicClusterPolicy nic-cluster-policy",
        "ClusterPolicy cluster-policy",
    ]
    config = yaml.safe_load((theirs.rehearsal.project / "Pulumi.lab.yaml").read_text())["config"]
    assert config["aks-infiniband:networkOperator"] == {"existing": True, "mode": "rdma-shared"}
    assert config["aks-infiniband:gpuOperator"] == {"existing": True}
    keys, _, work = config["aks-infiniband:pools"]
    assert keys["taints"] == ["sku=gpu:NoSchedule"]
    assert keys["labels"] == {"team": "ml"}
    assert (work["name"], work["infiniband"]) == ("work", False)


def test_without_the_import_a_preview_refuses_to_make_the_pool(adopted: Stack) -> None:
    refused = adopted.preview()
    assert not refused.succeeded
    for name in TAKEN:
        assert f"node pool {name} of cluster guide is not in the state of this stack" in refused.errors


def test_after_the_import_nothing_is_replaced_or_deleted_and_the_pool_changes_as_it_was_said(adopted: Stack) -> None:
    imported(adopted)
    planned = adopted.preview()
    assert planned.succeeded, planned.said
    assert {operation for names in planned.plan.values() for operation in names} == {"create", "update"}
    updated = [step for step in planned.steps if step.operation == "update"]
    assert sorted(step.name for step in updated) == sorted(f"rdma-{name}" for name in TAKEN)


def test_preflight_asks_azure_for_the_pools_and_for_the_right_to_change_each(adopted: Stack) -> None:
    said = shell(adopted.rehearsal, "aks-infiniband preflight -s lab --output json", folder=adopted.rehearsal.project)
    lines = {line["check"]: line for line in json.loads(said)["checks"]}
    assert lines["cluster"]["found"].endswith("; the stack makes nothing there, and changes ndh100, hbv4, work")
    assert {lines[f"rights on {name}"]["state"] for name in TAKEN} == {"pass"}


def test_it_comes_up_and_passes_and_a_second_update_changes_nothing(adopted: Stack) -> None:
    before, pods = pools(adopted), by_hand.pods(adopted)
    up = adopted.up()
    assert up.succeeded, up.said
    assert adopted.verdicts() == {"ndh100": "pass", "hbv4": "pass"}
    assert adopted.up().changed == {}
    after = pools(adopted)
    for name, changes in {"ndh100": {"upgradeSettings"}, "hbv4": {"upgradeSettings"}, "work": set[str]()}.items():
        changed = {key for key, value in after[name].items() if value != before[name].get(key)}
        assert changed <= {*changes, "eTag"}, name
        assert changed >= changes, name
    assert after["ndh100"]["kubeletConfig"] == {"cpuManagerPolicy": "static"}
    assert after["nodepool1"] == before["nodepool1"]
    assert pods.items() <= by_hand.pods(adopted).items()


def test_an_upgrade_changes_the_pools_that_were_taken_over_and_nothing_else(adopted: Stack) -> None:
    theirs = images(adopted, "nodepool1")
    (adopted.rehearsal.run.azure / NODE_IMAGE_RELEASE).write_text("209912.01.0")
    planned = upgrade(adopted, "--node-image", "--dry-run")["plan"]["steps"]
    assert [(step["kind"], step["name"]) for step in planned] == [
        *(("measured pool", name) for name in ("ndh100", "hbv4")),
        ("pool", "work"),
    ]
    found = upgrade(adopted, "--node-image", "--pool", "hbv4")
    assert (found["accepted"], found["done"]) == (True, ["measured pool hbv4"])
    assert {image.rpartition("-")[2] for image in images(adopted, "hbv4").values()} == {"209912.01.0"}
    assert images(adopted, "nodepool1") == theirs
    with upgrading(adopted, "--to", "1.36") as command:
        _, complained = command.communicate(timeout=60)
    assert "az aks upgrade --resource-group guide --name guide --control-plane-only" in complained
    with upgrading(adopted, "--node-image", "--pool", "nodepool1") as command:
        _, complained = command.communicate(timeout=60)
    assert "unknown pool nodepool1; the pools are ndh100, hbv4, work" in complained
    assert adopted.up().changed == {}


def test_a_destroy_leaves_the_pool_and_what_others_made(adopted: Stack) -> None:
    before, pods = pools(adopted), by_hand.pods(adopted)
    refused = adopted.destroy()
    assert not refused.succeeded
    assert "protect" in refused.errors
    destroyed = adopted.run("destroy", "--exclude-protected")
    assert destroyed.succeeded, destroyed.said
    assert pools(adopted) == before
    assert pods.items() <= by_hand.pods(adopted).items()
