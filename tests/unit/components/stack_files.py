"""Stack files for the tests of the settings: one that is right, and what `load` finds wrong with variants of it."""

import copy
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband import SettingsError, Stack, load
from aks_infiniband.azure.machines import OrdinaryPool
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.operators import Operator

GOOD = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
    "aks-infiniband:pools": [{"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2}],
}
NODE_SUBNET = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/net/providers/Microsoft.Network"
    "/virtualNetworks/hub/subnets/nodes"
)
KUBECONFIG = Path(__file__).with_name("kubeconfig.yaml")
POD_SUBNET = NODE_SUBNET.replace("subnets/nodes", "subnets/pods")


def mistakes(configuration: Any) -> dict[str, str]:
    """The mistakes, by key without the namespace; a second mistake at the same key is appended."""
    with pytest.raises(SettingsError) as error:
        load(configuration)
    found: dict[str, str] = {}
    for mistake in error.value.mistakes:
        key = mistake.key.removeprefix("aks-infiniband:")
        found[key] = f"{found[key]}\n{mistake.reason}" if key in found else mistake.reason
    return found


def changed(**sections: Any) -> Any:
    """The good stack with other sections."""
    return {**copy.deepcopy(GOOD), **{f"aks-infiniband:{key}": value for key, value in sections.items()}}


def pool(**more: Any) -> Any:
    """The good stack's pool with other keys."""
    return {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, **more}


def named(name: str, size: str, **more: Any) -> Any:
    """Another pool."""
    return {"name": name, "vmSize": size, "count": 2, **more}


def cluster(**more: Any) -> Any:
    """The good stack's cluster with other keys."""
    return {"kubernetesVersion": "1.35", **more}


def loaded(**sections: Any) -> Stack:
    """The stack of a variant that is right too."""
    return load(changed(**sections))


def existing(*pools: Any, **sections: Any) -> Any:
    """A stack for a cluster that is there."""
    return {
        key: value
        for key, value in changed(
            pools=list(pools),
            existingCluster={"kubeconfig": str(KUBECONFIG)},
            **sections,
        ).items()
        if key not in {"azure-native:location", "aks-infiniband:cluster"}
    }


def made(stack: Stack) -> AzureClusterArgs:
    """The cluster that a stack makes."""
    assert isinstance(stack.cluster, AzureClusterArgs)
    return stack.cluster


def machines(stack: Stack) -> dict[str, OrdinaryPool]:
    """The request to Azure, by pool."""
    return {pool.name: asked for pool, asked in made(stack).pools}


def network_of(stack: Stack) -> Operator:
    """The Network Operator of a stack that installs one."""
    assert stack.operators.network is not None
    return stack.operators.network
