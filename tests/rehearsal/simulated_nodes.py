"""Nodes as the simulated Azure registers them, for tests that do without Azure itself."""

from typing import Any

from rehearsal.azure.machines import PoolFacts, node, node_name
from rehearsal.azure.subscription import load
from rehearsal.tools import pins

H100 = "Standard_ND96isr_H100_v5"


def pool_facts(
    name: str,
    size: str,
    *,
    mode: str = "User",
    fabric: str | None = None,
    gpu_driver: str = "None",
    os_sku: str = "Ubuntu",
) -> PoolFacts:
    """A pool of the one cluster that all these tests have.

    fabric: that its machines share, None if they do not. gpu_driver: the pool's gpuProfile.driver.
    """
    subscription = load()
    known = subscription.size(size)
    assert known, f"{size} is not a size that the simulated subscription knows"
    return PoolFacts(
        pool={
            "name": name,
            "mode": mode,
            "type": "VirtualMachineScaleSets",
            "osSKU": os_sku,
            "osDiskType": "Managed",
            "osDiskSizeGB": 128,
            "maxPods": 250,
            "gpuProfile": {"driver": gpu_driver},
        },
        size_name=size,
        size=known,
        cluster_id=f"/subscriptions/{subscription.subscription_id}/resourceGroups/rg/providers/x/managedClusters/aks",
        node_group="MC_rg_aks_southcentralus",
        subscription_id=subscription.subscription_id,
        location="southcentralus",
        kubelet_version=pins.version("kubernetes", pins.KUBERNETES),
        fabric=fabric,
        subnet="10.224.0.0/16",
        pod_range="10.244.0.0/16",
    )


GPU_POOL = pool_facts("ndh100", H100, fabric="placement-group-of-ndh100")
SYSTEM_POOL = pool_facts("system", "Standard_D8s_v5", mode="System")
GPU_NODES = (node_name(GPU_POOL, 0), node_name(GPU_POOL, 1))
SYSTEM_NODE = node_name(SYSTEM_POOL, 0)


def gpu_and_system_nodes() -> list[dict[str, Any]]:
    """The documents of GPU_NODES, in order, and of SYSTEM_NODE."""
    return [node(GPU_POOL, 0, 0), node(GPU_POOL, 1, 1), node(SYSTEM_POOL, 0, 2)]
