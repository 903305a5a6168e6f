"""The simulated Azure's requirements for an agent pool, and the machines it makes of one."""

import threading
from types import SimpleNamespace

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.resources import features
from rehearsal.azure.wire import Properties
from tests.rehearsal.waiting import eventually, standing_still
from tests.simulator.unit.azure.asking import (
    Azure,
    MakeAzure,
    RefusedError,
    cluster_inputs,
    deployment_inputs,
    pool_inputs,
)
from tests.simulator.unit.azure.pools import CLUSTER, POOL, fabrics, machines


def test_a_feature_that_is_still_registering_does_not_help(
    azure: Azure, cluster: Properties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "time", SimpleNamespace(time=lambda: 0.0))  # the time of day before it is effective
    azure.create("resources:DeploymentAtSubscriptionScope", "f", **deployment_inputs())
    features.tell_provider(azure.cloud, "Microsoft.ContainerService")
    azure.create(POOL, "one", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3"))
    assert len(fabrics(azure, "one")) == 2


def under_way(azure: Azure) -> list[str]:
    """The pools that Azure is working on."""
    return [record.id for record in azure.cloud.store.all(f"azure-native:{POOL}") if record.operation is not None]


def test_pools_are_made_side_by_side_but_not_while_the_cluster_is_being_made(make_azure: MakeAzure) -> None:
    azure = make_azure()
    group = azure.create("resources:ResourceGroup", "rg")
    wanted = cluster_inputs(group, resourceName="aks")
    making = threading.Thread(target=azure.create, args=(CLUSTER, "aks"), kwargs=wanted)
    cluster = {"name": "aks", "__inputs": wanted}
    with standing_still(azure.cloud.clock):
        making.start()
        eventually(lambda: list(azure.cloud.store.all(f"azure-native:{CLUSTER}")))
        with pytest.raises(RefusedError, match=r'Code="OperationNotAllowed".*in progress create managed cluster'):
            azure.create(POOL, "one", **pool_inputs(cluster))
    making.join()
    pools = [
        threading.Thread(target=azure.create, args=(POOL, name), kwargs=pool_inputs(cluster, count=1))
        for name in ("one", "two")
    ]
    with standing_still(azure.cloud.clock):
        for pool in pools:
            pool.start()
        eventually(lambda: len(under_way(azure)) == 2)
    for pool in pools:
        pool.join()
    assert len(machines(azure, "one")) == len(machines(azure, "two")) == 1


def test_a_size_that_a_stack_describes_is_offered_and_has_its_hardware(azure: Azure, cluster: Properties) -> None:
    azure.cloud.infiniband = lambda: {"Standard_ND999isr_X_v9": SIZES["Standard_ND96isr_H100_v5"]}
    azure.create(POOL, "new", **pool_inputs(cluster, vmSize="Standard_ND999isr_X_v9"))
    assert machines(azure, "new")[0]["status"]["capacity"]["cpu"] == "96"
