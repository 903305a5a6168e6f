"""The simulated Azure's requirements for an agent pool, and the machines it makes of one."""

import threading
from types import SimpleNamespace

import pytest

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


def test_a_pool_is_one_node_per_machine(azure: Azure, cluster: Properties) -> None:
    wanted = pool_inputs(cluster, nodeLabels={"team": "a"}, nodeTaints=["sku=gpu:NoSchedule"])
    pool = azure.create(POOL, "ndh100", **wanted)
    first, second = machines(azure, "ndh100")
    name = second["metadata"]["name"]
    assert name.endswith("-vmss000001")
    expected = {
        "agentpool": "ndh100",
        "kubernetes.azure.com/agentpool": "ndh100",
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/accelerator": "nvidia",
        "node.kubernetes.io/instance-type": "Standard_ND96isr_H100_v5",
        "topology.kubernetes.io/region": "southcentralus",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "team": "a",
    }
    assert expected.items() <= second["metadata"]["labels"].items()
    assert second["spec"]["taints"] == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    assert second["spec"]["providerID"].endswith("/virtualMachineScaleSets/" + name[:-6] + "/virtualMachines/1")
    assert first["spec"]["podCIDR"] != second["spec"]["podCIDR"]
    assert second["status"]["capacity"]["cpu"] == "96"
    assert not any("/gpu" in resource or "rdma" in resource for resource in second["status"]["capacity"])
    assert (pool["provisioningState"], pool["name"]) == ("Succeeded", "ndh100")


def test_an_import_reads_all_that_azure_shows_and_that_could_be_asked_for(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    inputs = azure.imported(POOL, "ndh100", pool["id"])
    assert inputs["agentPoolName"] == "ndh100"
    assert inputs["resourceName"] == cluster["name"]
    assert inputs["orchestratorVersion"] == "1.35"
    assert inputs["upgradeSettings"] == pool["upgradeSettings"]
    assert inputs["scaleDownMode"] == "Delete"
    assert not {"provisioningState", "nodeImageVersion", "eTag", "name"} & set(inputs)


def test_without_the_feature_a_pool_comes_up_and_every_machine_has_its_own_fabric(
    azure: Azure, cluster: Properties
) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    assert pool["provisioningState"] == "Succeeded"
    assert len(fabrics(azure, "ndh100")) == 2


def test_with_the_feature_registered_the_machines_of_a_pool_share_a_fabric_and_pools_do_not(
    azure: Azure, cluster: Properties
) -> None:
    azure.create("resources:DeploymentAtSubscriptionScope", "f", **deployment_inputs())
    features.tell_provider(azure.cloud, "Microsoft.ContainerService")
    azure.create(POOL, "one", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3"))
    azure.create(POOL, "two", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3"))
    assert len(fabrics(azure, "one")) == len(fabrics(azure, "two")) == 1
    assert fabrics(azure, "one") != fabrics(azure, "two")


def test_a_feature_that_is_still_registering_does_not_help(
    azure: Azure, cluster: Properties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "time", SimpleNamespace(time=lambda: 0.0))  # the time of day before it is effective
    azure.create("resources:DeploymentAtSubscriptionScope", "f", **deployment_inputs())
    features.tell_provider(azure.cloud, "Microsoft.ContainerService")
    azure.create(POOL, "one", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3"))
    assert len(fabrics(azure, "one")) == 2


def test_a_gb300_pool_shares_a_fabric_only_without_the_feature(azure: Azure, cluster: Properties) -> None:
    wanted = pool_inputs(cluster, vmSize="Standard_ND128isr_GB300_v6", count=1)
    azure.create(POOL, "before", **{**wanted, "count": 2})
    azure.create("resources:DeploymentAtSubscriptionScope", "f", **deployment_inputs())
    features.tell_provider(azure.cloud, "Microsoft.ContainerService")
    azure.create(POOL, "after", **{**wanted, "count": 2})
    assert (len(fabrics(azure, "before")), len(fabrics(azure, "after"))) == (1, 2)
    assert machines(azure, "after")[0]["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NDH100", "does not match"),
        ("nd-h100", "does not match"),
        ("ndh100ndh100x", "too long"),
        ("1nd", "does not match"),
    ],
)
def test_a_name_aks_does_not_take_is_refused_at_preview(
    azure: Azure, cluster: Properties, name: str, words: str
) -> None:
    _, failures = azure.check(POOL, name, pool_inputs(cluster))
    assert any(words in failure and name in failure for failure in failures)


def test_an_api_server_that_does_not_answer_is_not_told_as_azures_error(azure: Azure, cluster: Properties) -> None:
    azure.machines.broken = True
    told = r"rehearsal's own API server does not answer \(connection refused\)\. Azure never sends this error"
    with pytest.raises(RefusedError, match=told):
        azure.create(POOL, "ndh100", **pool_inputs(cluster))


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


def test_the_last_system_pool_cannot_go(azure: Azure, cluster: Properties) -> None:
    system = {"id": f"{cluster['id']}/agentPools/system"}
    with pytest.raises(RefusedError, match="at least one system agent pool"):
        azure.delete(POOL, "system", system)
