"""`aks-infiniband upgrade`: what of an AKS cluster it may change, by the stack file."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from aks_infiniband.stack.load import load
from aks_infiniband_cli.azure.cluster import ClusterThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade.owned import Owned, owned, refuse_strange

from tests.unit.command_line.cases.machine_by_machine import pool_there
from tests.unit.command_line.logged_in import ROOT

pytestmark = pytest.mark.usefixtures("kubeconfig_at_home")
FILE: Final = Path("Pulumi.lab.yaml")
TAKEN: Final = {"resourceGroup": "rdma", "name": "guide", "nodePools": {"ndh100": {}}}
THERE: Final = ClusterThere(
    version="1.35.8",
    asked="1.35",
    location="southcentralus",
    state="Succeeded",
    pools={name: pool_there(name) for name in ("ndh100", "web", "system")},
)


def of(stack: str, **existing: Any) -> Owned:
    """The cluster of a stack of the project in Azure. existing: further keys of its existing cluster."""
    config: dict[str, Any] = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())["config"]
    if existing:
        config["aks-infiniband:existingCluster"] |= existing
        del config["aks-infiniband:pools"][0]["nodeSelector"]
    return owned(load(config), FILE)


def test_a_stack_that_has_taken_over_pools_changes_these_alone() -> None:
    assert list(of("existing", aks=TAKEN).among(THERE.pools)) == ["ndh100"]
    assert list(of("dev").among(THERE.pools)) == ["ndh100", "web", "system"]


def test_pools_that_were_taken_over_stand_in_the_order_of_the_stack_file() -> None:
    taken = replace(of("existing", aks=TAKEN), pools=("web", "ndh100", "gone"))
    assert list(taken.among(THERE.pools)) == ["web", "ndh100"]


@pytest.mark.parametrize("name", ["web", "system", "nope"])
def test_a_pool_of_others_is_refused_by_name(name: str) -> None:
    pools = of("existing", aks=TAKEN).among(THERE.pools)
    with pytest.raises(CommandError, match=f"unknown pool {name}; the pools are ndh100$"):
        refuse_strange([name], pools)


def test_a_control_plane_of_others_must_have_the_version_before() -> None:
    theirs = of("existing", aks=TAKEN)
    theirs.require_control_plane(THERE, "1.35")
    with pytest.raises(CommandError, match="az aks upgrade --resource-group rdma --name guide --control-plane-only"):
        theirs.require_control_plane(THERE, "1.36")


def test_a_stack_without_anything_in_azure_is_refused() -> None:
    with pytest.raises(CommandError, match=r"Pulumi\.lab\.yaml makes no cluster, and has taken over no node pool"):
        of("existing")
