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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dnsPrefix": None}, "dnsPrefix"),
        ({"dnsPrefix": "-x"}, "DNS prefix '-x' is invalid"),
        ({"nodeResourceGroup": "g" * 81}, "node resource group name is too long. The maximum length is 80 .* is 81"),
        ({"resourceName": "c" * 63}, "node resource group name is too long"),
        ({"identity": None}, "neither an identity nor a service principal"),
        ({"kubernetesVersion": "1.29"}, "1.29, which is not supported in this region.*1.35.7"),
        ({"agentPoolProfiles": [{**SYSTEM, "mode": "User"}]}, "Must define at least one system pool"),
        ({"agentPoolProfiles": [{**SYSTEM, "name": "Sys"}]}, "does not match"),
        ({"agentPoolProfiles": [{**SYSTEM, "count": 100}]}, "QuotaExceeded.*standardDSv5Family"),
        ({"networkProfile": {"serviceCidr": "10.1.0.0/16"}}, "DNS service IP 10.0.0.10 is out of"),
        ({"networkProfile": {"networkPlugin": "kubenet", "podCidr": "10.0.0.0/8"}}, "overlaps with service CIDR"),
        ({"location": "moonbase"}, "The provided location 'moonbase' is not available"),
        ({"resourceGroupName": "none"}, "Resource group 'none' could not be found"),
        (
            {"identity": {"type": "UserAssigned", "userAssignedIdentities": ["/subscriptions/x/none"]}},
            "Resource '/subscriptions/x/none' was not found",
        ),
    ],
)
def test_azure_refuses(azure: Azure, group: Properties, changes: dict[str, Any], words: str) -> None:
    wanted = {key: value for key, value in cluster_inputs(group, **changes).items() if value is not None}
    with pytest.raises(RefusedError, match=words):
        azure.create(CLUSTER, "aks", **wanted)
    assert not azure.machines.nodes


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


def test_an_inline_pool_cannot_be_added_later(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match="A new agent pool was introduced"):
        azure.update(CLUSTER, "aks", cluster, agentPoolProfiles=[SYSTEM, {**SYSTEM, "name": "more"}])


def test_the_system_pool_scales_in_place_and_leaves_other_pools_alone(azure: Azure, cluster: Properties) -> None:
    azure.create(POOL, "ndh100", **pool_inputs(cluster))
    azure.update(CLUSTER, "aks", cluster, agentPoolProfiles=[{**SYSTEM, "count": 2}])
    assert sorted(name.split("-")[1] for name in azure.machines.nodes) == ["ndh100", "ndh100", "system", "system"]


def test_the_system_pools_size_cannot_change(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match=r"PropertyChangeNotAllowed.*properties.vmSize"):
        azure.update(CLUSTER, "aks", cluster, agentPoolProfiles=[{**SYSTEM, "vmSize": "Standard_D16s_v5"}])


def test_a_cluster_is_upgraded_but_not_downgraded(azure: Azure, cluster: Properties) -> None:
    newer = azure.update(CLUSTER, "aks", cluster, kubernetesVersion="1.36")
    assert newer["currentKubernetesVersion"] == "1.36.3"
    with pytest.raises(RefusedError, match=r"from 1.36.3 to 1.35.8 is not allowed"):
        azure.update(CLUSTER, "aks", newer, kubernetesVersion="1.35")


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


@pytest.mark.parametrize(
    ("changes", "replaces"),
    [
        ({"dnsPrefix": "other"}, ["dnsPrefix"]),
        ({"location": "eastus"}, ["location"]),
        ({"location": "South Central US"}, []),
        ({"networkProfile": {"networkPlugin": "azure"}}, ["networkProfile.networkPluginMode"]),
        ({"tags": {"a": "b"}}, []),
        ({"kubernetesVersion": "1.36"}, []),
    ],
)
def test_what_replaces_a_cluster(
    azure: Azure, cluster: Properties, changes: dict[str, Any], replaces: list[str]
) -> None:
    diff = azure.diff(CLUSTER, "aks", cluster, **changes)
    assert list(diff.replaces) == replaces
    assert not diff.deleteBeforeReplace  # its name is random


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


@pytest.mark.field_report("R1")
def test_a_version_whose_community_support_has_ended_needs_long_term_support(azure: Azure) -> None:
    group = azure.create("resources:ResourceGroup", "rg")
    for plan in ({}, {**LTS, "supportPlan": "KubernetesOfficial"}):
        with pytest.raises(RefusedError, match=r"1\.34\.2, which is only available for Long-Term Support \(LTS\)"):
            azure.create(CLUSTER, "aks", **cluster_inputs(group, kubernetesVersion="1.34", **plan))
    with pytest.raises(RefusedError, match="needs the tier Premium"):
        azure.create(CLUSTER, "aks", **cluster_inputs(group, supportPlan="AKSLongTermSupport"))
    made = azure.create(CLUSTER, "aks", **cluster_inputs(group, kubernetesVersion="1.34", **LTS))
    assert made["currentKubernetesVersion"] == "1.34.2"
