"""`aks-infiniband preflight` of a stack that has taken over node pools in an AKS cluster of others."""

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.preflight_stacks import FAMILY, H100, Checked

pytestmark = pytest.mark.usefixtures("kubeconfig_at_home")
TAKEN: Final = {"resourceGroup": "rdma", "name": "guide", "nodePools": {"ndh100": {}}}
WRITE: Final = "Microsoft.ContainerService/managedClusters/agentPools/write"


def adopted(folder: Path, **pool: Any) -> list[str]:
    """The flags of a stack file that has taken over the pool. pool: changes of it."""
    config = yaml.safe_load((ROOT / "Pulumi.existing.yaml").read_text())["config"]
    config["aks-infiniband:existingCluster"]["aks"] = TAKEN
    keys = config["aks-infiniband:pools"][0]
    del keys["nodeSelector"], keys["gpuDirect"]
    config["aks-infiniband:pools"] = [{**keys, **pool}]
    (folder / "Pulumi.taken.yaml").write_text(yaml.safe_dump({"config": config}))
    (folder / "values").symlink_to(ROOT / "values")
    return ["-s", "taken", "--folder", str(folder)]


@pytest.fixture
def there(arm: Arm) -> Arm:
    """Azure with the cluster and its pools, two machines in each."""
    arm.cluster = ("1.35.8", {"nodepool1": ("Standard_D8s_v5", 2), "ndh100": (H100, 2)})
    return arm


def test_what_is_there_and_may_be_changed_passes(checked: Checked, there: Arm, tmp_path: Path) -> None:
    code, lines = checked(*adopted(tmp_path))
    assert code == 0
    found = "cluster guide runs Kubernetes 1.35.8; the stack makes nothing there, and changes ndh100"
    assert lines["cluster"]["found"] == found
    assert (lines["rights on ndh100"]["state"], lines["size of ndh100"]["state"]) == ("pass", "pass")
    asked = "/providers/Microsoft.ContainerService/managedClusters/guide/agentPools/ndh100/providers/Microsoft.Author"
    assert any(asked in path for path in there.asked)


@pytest.mark.parametrize(
    ("permitted", "state"),
    [
        (("*/read",), "fail"),
        (("Microsoft.ContainerService/managedClusters/write",), "fail"),
        ((WRITE,), "pass"),
        (("Microsoft.ContainerService/*",), "pass"),
    ],
)
def test_the_right_to_change_a_pool_is_asked_for_at_the_pool(
    checked: Checked, there: Arm, tmp_path: Path, permitted: tuple[str, ...], state: str
) -> None:
    there.permitted, there.roles = permitted, ()  # a role on the pool or on its group, none on the subscription
    code, lines = checked(*adopted(tmp_path))
    line = lines["rights on ndh100"]
    assert (line["state"], code) == (state, 1 if state == "fail" else 0)
    assert (WRITE in (line["remedy"] or "")) == (state == "fail")


def test_who_may_not_ask_for_rights_is_not_told_that_they_are_there(
    checked: Checked, there: Arm, tmp_path: Path
) -> None:
    there.refused = "Microsoft.Authorization/permissions$"
    assert checked(*adopted(tmp_path))[1]["rights on ndh100"]["state"] == "not checked"


@pytest.mark.parametrize(
    ("refused", "check", "state"),
    [("^/subscriptions/[^/]+$", "subscription", "fail"), ("/managedClusters/guide$", "cluster", "not checked")],
)
def test_what_may_not_be_read_is_not_judged(
    checked: Checked, there: Arm, tmp_path: Path, refused: str, check: str, state: str
) -> None:
    there.refused = refused
    _, lines = checked(*adopted(tmp_path))
    assert lines[check]["state"] == state
    assert "rights on ndh100" not in lines


def test_a_cluster_or_a_pool_that_is_not_there_fails(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    flags = adopted(tmp_path)
    assert checked(*flags)[1]["cluster"]["found"] == "cluster guide is not there"
    arm.cluster = ("1.35.8", {"nodepool1": ("Standard_D8s_v5", 2)})
    code, lines = checked(*flags)
    assert (code, lines["cluster"]["state"]) == (1, "fail")
    assert lines["cluster"]["found"] == "cluster guide does not have ndh100; its pools are nodepool1"
    assert "rights on ndh100" not in lines


def test_machines_that_the_stack_adds_are_held_against_the_quota(checked: Checked, there: Arm, tmp_path: Path) -> None:
    there.used = {FAMILY: 288}
    _, lines = checked(*adopted(tmp_path, count=4))
    assert lines[f"quota {FAMILY}"]["found"] == "192 vCPUs wanted, 288 of 384 in use in southcentralus: 96 short"


def test_a_pool_whose_gpus_aks_manages_is_named(checked: Checked, there: Arm, tmp_path: Path) -> None:
    there.shown = {"ndh100": {"networkProfile": {"dranet": {"mode": "Managed"}}}}
    assert checked(*adopted(tmp_path))[1]["managed by AKS in ndh100"]["state"] == "fail"
