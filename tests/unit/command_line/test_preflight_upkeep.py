"""`aks-infiniband preflight` of a cluster that is there: parts that are behind, and parts that AKS manages as this
program does.
"""

from datetime import UTC, datetime

from rehearsal.azure.node_images import newest_release
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.preflight_stacks import Checked

POOLS = {"system": ("Standard_D8s_v5", 2), "ndh100": ("Standard_ND96isr_H100_v5", 2)}


def test_a_node_image_without_the_remedy_of_a_bulletin_is_named_and_a_new_one_is_not(
    checked: Checked, arm: Arm
) -> None:
    arm.cluster = ("1.35.8", POOLS)
    releases = {"ndh100": "202604.12.0", "system": newest_release(datetime.now(tz=UTC).date())}
    images = {pool: f"AKSUbuntu-2404gen2containerd-{release}" for pool, release in releases.items()}
    arm.shown = {pool: {"nodeImageVersion": image} for pool, image in images.items()}
    line = checked("-s", "dev")[1]["node images"]
    assert "pool ndh100, AKSUbuntu-2404gen2containerd-202604.12.0: AKS-2026-0003 (CVE-2026-31431" in line["found"]
    assert "days old, and AKS supports none older than 90" in line["found"]
    assert "system" not in line["found"]
    assert "--node-image" in line["remedy"]
