"""The simulated Azure's requirements for a managed cluster."""

from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from rehearsal.azure.wire import UNKNOWN, Properties, from_struct, to_struct
from tests.simulator.unit.azure.asking import Azure, MakeAzure, RefusedError, cluster_inputs, pool_inputs

CLUSTER = "containerservice:ManagedCluster"
POOL = "containerservice:AgentPool"
SYSTEM: dict[str, Any] = {"name": "system", "mode": "System", "vmSize": "Standard_D8s_v5", "count": 1}


def test_a_cluster_brings_its_system_pools_machines_and_a_kubeconfig(azure: Azure, cluster: Properties) -> None:
    assert [name.split("-")[1] for name in azure.machines.nodes] == ["system"]
    assert cluster["name"].startswith("aks")
    assert cluster["currentKubernetesVersion"] == "1.35.8"
    assert cluster["nodeResourceGroup"].startswith("MC_")
    assert cluster["agentPoolProfiles"][0]["count"] == 1
    for function in ("User", "Admin"):
        credentials = azure.invoke(
            f"containerservice:listManagedCluster{function}Credentials",
            resourceGroupName=cluster["__inputs"]["resourceGroupName"],
            resourceName=cluster["name"],
        )
        assert credentials["kubeconfigs"] == [{"name": f"cluster{function}", "value": "a2luZDogQ29uZmln"}]


def test_a_service_range_that_hits_a_subnet_of_the_network_is_refused(azure: Azure, group: Properties) -> None:
    in_group = {"resourceGroupName": group["name"]}
    space = {"addressPrefixes": ["10.0.0.0/8"]}
    network = azure.create("network:VirtualNetwork", "net", addressSpace=space, **in_group)
    subnet = azure.create(
        "network:Subnet", "nodes", virtualNetworkName=network["name"], addressPrefix="10.0.4.0/22", **in_group
    )
    profiles = [{**SYSTEM, "vnetSubnetID": subnet["id"]}]
    with pytest.raises(RefusedError, match=r"service CIDR 10.0.0.0/16 is conflicted with .* 10.0.4.0/22"):
        azure.create(CLUSTER, "aks", **cluster_inputs(group, agentPoolProfiles=profiles))


def test_there_is_one_cluster_at_a_time(azure: Azure, cluster: Properties, group: Properties) -> None:
    with pytest.raises(RefusedError, match=f"1 managed cluster at a time: {cluster['name']}. .*--clusters 2"):
        azure.create(CLUSTER, "other", **cluster_inputs(group))


def test_deleting_a_cluster_takes_its_pools_and_machines(azure: Azure, cluster: Properties, group: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    azure.delete(CLUSTER, "aks", cluster)
    assert not azure.machines.nodes
    azure.delete(POOL, "ndh100", pool)  # gone with its cluster: nothing to do
    assert [record.id for record in azure.cloud.store.all()] == [group["id"]]


def test_deleting_a_resource_group_takes_everything_in_it(azure: Azure, cluster: Properties, group: Properties) -> None:
    azure.create(POOL, "ndh100", **pool_inputs(cluster))
    azure.delete("resources:ResourceGroup", "rg", group)
    assert not azure.machines.nodes
    assert not list(azure.cloud.store.all())


def test_at_preview_only_what_the_inputs_tell_is_known(azure: Azure, cluster: Properties) -> None:
    urn = azure.urn(CLUSTER, "aks")
    request = provider_pb2.CreateRequest(urn=urn, properties=to_struct(cluster["__inputs"]), preview=True)
    outputs = from_struct(azure.provider.Create(request, azure.call()).properties)
    assert outputs["dnsPrefix"] == "aks"
    assert outputs["name"] is UNKNOWN
    assert outputs["fqdn"] is UNKNOWN


def test_static_credentials_are_refused_when_local_accounts_are_off(make_azure: MakeAzure) -> None:
    azure = make_azure()
    group = azure.create("resources:ResourceGroup", "rg")
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group, disableLocalAccounts=True))
    with pytest.raises(RefusedError, match="disable local accounts"):
        azure.invoke(
            "containerservice:listManagedClusterAdminCredentials",
            resourceGroupName=group["name"],
            resourceName=cluster["name"],
        )


LTS: Properties = {"sku": {"name": "Base", "tier": "Premium"}, "supportPlan": "AKSLongTermSupport"}
