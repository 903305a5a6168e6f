"""The simulated Azure's requirements for an agent pool, and the machines it makes of one."""

import threading
from types import SimpleNamespace
from typing import Any

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


def test_a_gb300_pool_needs_ubuntu_24_04(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match=r"OS SKU 'Ubuntu2204' is not supported.*Ubuntu2404"):
        azure.create(POOL, "gb", **pool_inputs(cluster, vmSize="Standard_ND128isr_GB300_v6", osSKU="Ubuntu2204"))


@pytest.mark.field_report("R11")
def test_an_os_sku_that_the_api_version_does_not_have_is_refused(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match=r"InvalidOSSKU.*OSSKU='Ubuntu2404' is invalid.*Unrecognized"):
        azure.create(POOL, "hb", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", osSKU="Ubuntu2404"))


@pytest.mark.parametrize("size", ["Standard_ND96isr_H100_v5", "Standard_ND96isr_MI300X_v5"])
def test_azure_linux_is_refused_for_gpus_that_aks_has_under_ubuntu_alone(
    azure: Azure, cluster: Properties, size: str
) -> None:
    with pytest.raises(RefusedError, match="InvalidOSSKU"):
        azure.create(POOL, "nd", **pool_inputs(cluster, vmSize=size, osSKU="AzureLinux3"))


def test_scaling_adds_machines_with_new_numbers_and_drains_the_newest(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    pool = azure.update(POOL, "ndh100", pool, count=3)
    pool = azure.update(POOL, "ndh100", pool, count=1)
    assert [name[-6:] for name in azure.machines.drained] == ["000001", "000002"]
    pool = azure.update(POOL, "ndh100", pool, count=2)
    names = [node["metadata"]["name"][-6:] for node in machines(azure, "ndh100")]
    assert names == ["000000", "000003"]
    assert pool["count"] == 2


def test_labels_and_taints_of_a_pool_follow_in_place(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster, nodeLabels={"team": "a", "old": "x"}))
    azure.update(POOL, "ndh100", pool, nodeLabels={"team": "b"}, nodeTaints=["a:NoExecute"])
    for node in machines(azure, "ndh100"):
        assert node["metadata"]["labels"]["team"] == "b"
        assert "old" not in node["metadata"]["labels"]
        assert node["spec"]["taints"] == [{"key": "a", "effect": "NoExecute"}]


def test_deleting_a_pool_takes_its_machines_without_a_drain_and_no_others(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    azure.delete(POOL, "ndh100", pool)
    assert [name.split("-")[1] for name in azure.machines.nodes] == ["system"]
    assert azure.machines.drained == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("osDiskSizeGB", 512),
        ("osDiskType", "Managed"),
        ("maxPods", 30),
        ("availabilityZones", ["1"]),
        ("gpuProfile", {"driver": "Install"}),
        ("scaleSetPriority", "Spot"),
    ],
)
def test_what_aks_cannot_change_in_place_is_not_marked_and_refused_at_the_update(
    azure: Azure, cluster: Properties, key: str, value: Any
) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    assert list(azure.diff(POOL, "ndh100", pool, **{key: value}).replaces) == []
    with pytest.raises(RefusedError, match=f"PropertyChangeNotAllowed.*properties.{key}"):
        azure.update(POOL, "ndh100", pool, **{key: value})


def test_a_new_size_replaces_a_pool_after_deleting_it(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    diff = azure.diff(POOL, "ndh100", pool, vmSize="Standard_ND96isr_H200_v5")
    assert list(diff.replaces) == ["vmSize"]
    assert diff.deleteBeforeReplace


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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"count": 1001, "vmSize": "Standard_D2s_v5"},
            "count of agent pool 'pool' is 1001. It must be between 0 and 1000",
        ),
        ({"mode": "System", "count": 0}, "It must be between 1 and 1000"),
        ({"maxPods": 5}, "maxPods"),
        ({"osDiskSizeGB": 5}, "osDiskSizeGB"),
        ({"vmSize": "Standard_ND96isr_H1000_v5"}, "The VM size of Standard_ND96isr_H1000_v5 is not allowed"),
        ({"availabilityZones": ["7"]}, r"The zone\(s\) '7'.*'1,2,3'"),
        ({"vnetSubnetID": "/subscriptions/x/resourceGroups/rg/subnets/none"}, "InvalidResourceReference"),
        ({"orchestratorVersion": "1.19"}, "K8sVersionNotSupported.*1.35.8"),
        ({"enableAutoScaling": True, "minCount": 3, "maxCount": 2}, "minCount"),
        ({"maxCount": 2}, "enableAutoScaling"),
    ],
)
def test_azure_refuses(azure: Azure, cluster: Properties, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        azure.create(POOL, "pool", **pool_inputs(cluster, **changes))
    assert not machines(azure, "pool")


def test_a_pool_of_a_cluster_that_is_not_there_is_refused(azure: Azure, group: Properties) -> None:
    wanted = {"resourceGroupName": group["name"], "resourceName": "none", "vmSize": "Standard_D8s_v5", "count": 1}
    with pytest.raises(RefusedError, match=r"Microsoft.ContainerService/managedClusters/none.*was not found"):
        azure.create(POOL, "pool", **wanted)


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
