"""How many machines the simulated Azure has for an agent pool: quota, placement groups, capacity."""

import pytest

from rehearsal.azure.wire import Properties
from tests.unit.azure.asking import Azure, MakeAzure, RefusedError, cluster_inputs, pool_inputs
from tests.unit.azure.pools import CLUSTER, POOL, machines


def test_quota_is_counted_per_family_with_exact_numbers(azure: Azure, cluster: Properties) -> None:
    azure.create(POOL, "one", **pool_inputs(cluster, count=3))
    with pytest.raises(RefusedError) as refusal:
        azure.create(POOL, "two", **pool_inputs(cluster, count=2))
    assert "approved standardNDSH100v5Family Cores quota" in str(refusal.value)
    assert "Current Limit: 384, Current Usage: 288, Additional Required: 192, (Minimum) New Limit Required: 480" in str(
        refusal.value
    )
    azure.create(POOL, "two", **pool_inputs(cluster, count=1))


def test_quota_counts_what_a_pool_grows_by(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "one", **pool_inputs(cluster, count=3))
    azure.update(POOL, "one", pool, count=4)
    with pytest.raises(RefusedError, match="Additional Required: 192"):
        azure.update(POOL, "one", pool, count=6)


def test_the_regions_quota_is_one_over_all_families(make_azure: MakeAzure) -> None:
    azure = make_azure(regional_vcpus=100)
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(azure.create("resources:ResourceGroup", "rg")))
    with pytest.raises(RefusedError, match=r"Total Regional Cores quota.*Current Usage: 8, Additional Required: 192"):
        azure.create(POOL, "one", **pool_inputs(cluster))


def test_a_placement_group_ends_at_a_hundred_machines(make_azure: MakeAzure) -> None:
    azure = make_azure(features={"Microsoft.ContainerService/AKSInfinibandSupport": "Registered"})
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(azure.create("resources:ResourceGroup", "rg")))
    wanted = pool_inputs(cluster, vmSize="Standard_HB120-16rs_v3", count=101)
    with pytest.raises(RefusedError, match="singlePlacementGroup"):
        azure.create(POOL, "big", **wanted)


def test_capacity_that_is_short_leaves_a_failed_pool_that_the_next_put_repairs(make_azure: MakeAzure) -> None:
    azure = make_azure(capacity={"Standard_ND96isr_H100_v5": 1})
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(azure.create("resources:ResourceGroup", "rg")))
    wanted = pool_inputs(cluster)
    with pytest.raises(RefusedError, match="AllocationFailed"):
        azure.create(POOL, "ndh100", **wanted)
    [metadata] = azure.context.details  # carries the resource, so that the engine keeps it
    assert metadata[0][0] == "grpc-status-details-bin"
    resource = f"{cluster['id']}/agentPools/ndh100"
    assert azure.read(POOL, "ndh100", resource)["provisioningState"] == "Failed"
    inputs, _ = azure.check(POOL, "ndh100", wanted)
    pool = azure.update(POOL, "ndh100", {"id": resource, "__inputs": inputs}, count=1)
    assert pool["provisioningState"] == "Succeeded"
    assert len(machines(azure, "ndh100")) == 1


@pytest.mark.field_report("R14")
def test_a_constrained_size_counts_the_cores_of_the_full_one(make_azure: MakeAzure) -> None:
    azure = make_azure(regional_vcpus=8 + 2 * 120 - 1)
    group = azure.create("resources:ResourceGroup", "rg")
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    with pytest.raises(RefusedError, match="Additional Required: 240"):
        azure.create(POOL, "hb", **pool_inputs(cluster, vmSize="Standard_HB120-16rs_v3", count=2))
