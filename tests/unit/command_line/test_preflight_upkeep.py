"""`aks-infiniband preflight` of a cluster that is there: parts that are behind, and parts that AKS manages as this
program does.
"""

from datetime import UTC, datetime

import pytest

from rehearsal.azure.node_images import newest_release
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.preflight_stacks import Checked

POOLS = {"system": ("Standard_D8s_v5", 2), "ndh100": ("Standard_ND96isr_H100_v5", 2)}


def image(release: str) -> dict[str, str]:
    return {"nodeImageVersion": f"AKSUbuntu-2404gen2containerd-{release}"}


def test_newer_patches_of_the_clusters_own_minor_version_are_named_with_the_command(checked: Checked, arm: Arm) -> None:
    arm.cluster = ("1.35.6", POOLS)
    _, lines = checked("-s", "dev")
    line = lines["patch of Kubernetes"]
    assert line["found"].startswith(
        "the cluster runs 1.35.6; newer are 1.35.8, 1.35.7; with long-term support AKS fixes only the two"
    )
    assert "upgrade with --to 1.35.8" in line["remedy"]


def test_the_newest_patch_needs_nothing_and_a_cluster_that_is_not_there_has_none(checked: Checked, arm: Arm) -> None:
    assert "patch of Kubernetes" not in checked("-s", "dev")[1]
    arm.cluster = ("1.35.8", POOLS)
    line = checked("-s", "dev")[1]["patch of Kubernetes"]
    assert (line["found"], line["remedy"]) == ("the cluster runs 1.35.8, the newest of its minor version", None)


def test_a_node_image_without_the_remedy_of_a_bulletin_is_named_and_a_new_one_is_not(
    checked: Checked, arm: Arm
) -> None:
    arm.cluster = ("1.35.8", POOLS)
    arm.shown = {"ndh100": image("202604.12.0"), "system": image(newest_release(datetime.now(tz=UTC).date()))}
    line = checked("-s", "dev")[1]["node images"]
    assert "pool ndh100, AKSUbuntu-2404gen2containerd-202604.12.0: AKS-2026-0003 (CVE-2026-31431" in line["found"]
    assert "days old, and AKS supports none older than 90" in line["found"]
    assert "system" not in line["found"]
    assert "--node-image" in line["remedy"]


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"gpuProfile": {"driver": "None", "nvidia": {"managementMode": "Managed"}}}, "AKS's managed GPU"),
        ({"networkProfile": {"dranet": {"mode": "Managed"}}}, "AKS's managed DRANET"),
    ],
)
def test_a_pool_that_aks_manages_itself_is_refused_by_the_name_of_what_it_has(
    checked: Checked, arm: Arm, shown: dict[str, object], words: str
) -> None:
    arm.cluster, arm.shown = ("1.35.8", POOLS), {"ndh100": shown}
    code, lines = checked("-s", "dev")
    assert code == 1
    assert lines["managed by AKS in ndh100"]["found"].startswith(f"pool ndh100 has {words}, which owns ")
    assert "pool" in lines["managed by AKS in ndh100"]["remedy"]


def test_a_pool_whose_gpus_aks_does_not_manage_is_no_matter(checked: Checked, arm: Arm) -> None:
    profile = {"gpuProfile": {"driver": "Install", "nvidia": {"managementMode": "Unmanaged"}}}
    arm.cluster, arm.shown = ("1.35.8", POOLS), {"ndh100": profile}
    assert not [name for name in checked("-s", "dev")[1] if name.startswith("managed by AKS")]
