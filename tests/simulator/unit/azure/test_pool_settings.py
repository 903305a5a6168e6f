"""The effects of an agent pool's properties on its machines, and Azure's refusals of them."""

from typing import Any, Final

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.resources.pool_defaults import defaults
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, cluster_inputs, pool_inputs

POOL: Final = "containerservice:AgentPool"
SUBSCRIPTION_ID: Final = f"/subscriptions/{SUBSCRIPTION.subscription_id}"
SNAPSHOTS: Final = f"{SUBSCRIPTION_ID}/resourceGroups/images/providers/Microsoft.ContainerService/snapshots"
GB300: Final = "Standard_ND128isr_GB300_v6"


def machine(azure: Azure, pool: str) -> dict[str, Any]:
    return next(node for name, node in azure.machines.nodes.items() if name.startswith(f"aks-{pool}-"))


LONG_TERM_SUPPORT: Properties = {"sku": {"name": "Base", "tier": "Premium"}, "supportPlan": "AKSLongTermSupport"}


def cluster_on(azure: Azure, **changes: Any) -> Properties:
    group = azure.create("resources:ResourceGroup", "rg")
    return azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group, **changes))


def test_a_size_that_a_stack_describes_is_offered_and_has_its_hardware(azure: Azure, cluster: Properties) -> None:
    azure.cloud.infiniband = lambda: {"Standard_ND999isr_X_v9": SIZES["Standard_ND96isr_H100_v5"]}
    azure.create(POOL, "new", **pool_inputs(cluster, vmSize="Standard_ND999isr_X_v9"))
    assert machine(azure, "new")["status"]["capacity"]["cpu"] == "96"


@pytest.mark.parametrize(
    ("network", "subnet", "pods"),
    [
        ({"networkPlugin": "azure", "networkPluginMode": "overlay"}, None, 250),
        ({"networkPlugin": "azure"}, None, 30),
        ({"networkPlugin": "azure"}, "/subscriptions/s/pods", 110),
        ({"networkPlugin": "kubenet"}, None, 110),
    ],
)
def test_a_node_takes_as_many_pods_as_its_network_has_addresses_for(
    azure: Azure, network: dict[str, str], subnet: str | None, pods: int
) -> None:
    given = {"vmSize": "Standard_D8s_v5", **({"podSubnetID": subnet} if subnet else {})}
    filled = defaults(azure.cloud, given, {"networkProfile": network, "kubernetesVersion": "1.35"})
    assert filled["maxPods"] == pods
