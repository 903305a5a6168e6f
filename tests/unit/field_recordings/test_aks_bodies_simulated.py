"""The simulated AKS answers with the fields and types that AKS was recorded to answer with; what differs is listed."""

import json
from typing import Any

import pytest

from rehearsal.azure.errors import not_found, refused
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, RefusedError, cluster_inputs, pool_inputs
from tests.unit.field_recordings.shapes import body, differences, flat, shape

CLUSTER = "containerservice:ManagedCluster"
POOL = "containerservice:AgentPool"
SYSTEM = {"name": "nodepool1", "mode": "System", "vmSize": "Standard_D8ds_v5", "count": 3}
IDENTITIES = {"identity.userAssignedIdentities"}
PROVIDERS_OWN = {"azureApiVersion": "added"}
"""Fields that azure-native adds to every answer."""
OF_LATER_VERSIONS = (
    "agentPoolProfiles[].upgradeStrategy",
    "agentPoolProfiles[].upgradeSettingsBlueGreen",
    "networkProfile.podLinkLocalAccess",
    "securityProfile.kubernetesResourceObjectEncryptionProfile",
    "securityProfile.kubernetesResourceObjectEncryptionProfile.infrastructureEncryption",
)
"""Azure-native 3.29 uses version 2025-09-01, whose models have none of these."""
ASKED_FOR = (
    "kind",
    "agentPoolProfiles[].networkProfile",
    "agentPoolProfiles[].workloadRuntime",
    "windowsProfile",
    "windowsProfile.adminUsername",
    "windowsProfile.enableCSIProxy",
)
"""Fields in the recorded request; `windowsProfile` follows from the requested Linux user, too."""


def made(azure: Azure, group: Properties, **changes: Any) -> Properties:
    """A cluster like the recorded one, with the inputs under `__inputs`."""
    identity = azure.create("managedidentity:UserAssignedIdentity", "id", resourceGroupName=group["name"])
    own = {"type": "UserAssigned", "userAssignedIdentities": [identity["id"]]}
    given = cluster_inputs(group, identity=own, agentPoolProfiles=[SYSTEM], **changes)
    return azure.create(CLUSTER, "aks", **given)


def shown(answer: Properties) -> Properties:
    return {key: value for key, value in answer.items() if key != "__inputs"}


def test_a_cluster_has_the_recorded_fields(azure: Azure, group: Properties) -> None:
    left_out = dict.fromkeys((*OF_LATER_VERSIONS, *ASKED_FOR), "left out")
    cluster = shown(made(azure, group))
    assert differences(flat(body("aks-cluster")), cluster, IDENTITIES) == {**left_out, **PROVIDERS_OWN}


def test_a_cluster_for_which_nothing_was_asked_has_the_recorded_choices(azure: Azure, group: Properties) -> None:
    recorded, given = flat(body("aks-cluster")), cluster_inputs(group, agentPoolProfiles=[SYSTEM])
    del given["networkProfile"]
    cluster = azure.create(CLUSTER, "aks", **given)
    for profile in ("autoUpgradeProfile", "storageProfile", "metricsProfile", "bootstrapProfile", "powerState"):
        assert cluster[profile] == recorded[profile], profile
    for name in ("networkPlugin", "networkPluginMode", "networkPolicy", "networkDataplane", "podCidrs", "ipFamilies"):
        assert cluster["networkProfile"][name] == recorded["networkProfile"][name], name
    assert cluster["oidcIssuerProfile"]["enabled"] is recorded["oidcIssuerProfile"]["enabled"] is True
    (pool,), (profile,) = cluster["agentPoolProfiles"], recorded["agentPoolProfiles"]
    for name in ("maxPods", "osDiskType", "osSKU", "scaleDownMode", "upgradeSettings", "securityProfile"):
        assert pool[name] == profile[name], name


def test_ids_are_written_as_aks_writes_them(azure: Azure, group: Properties) -> None:
    recorded, cluster = body("aks-cluster"), made(azure, group)
    assert cluster["id"].split("/")[3] == recorded["id"].split("/")[3] == "resourcegroups"
    assert cluster["type"] == recorded["type"]
    kubelet = cluster["identityProfile"]["kubeletidentity"]["resourceId"]
    real = recorded["properties"]["identityProfile"]["kubeletidentity"]["resourceId"]
    assert kubelet.split("/")[3] == real.split("/")[3]
    assert kubelet.split("/")[4] == cluster["nodeResourceGroup"]
    assert kubelet.rpartition("/")[2] == f"{cluster['name']}-agentpool"
    pool = azure.create(POOL, "gpu", **pool_inputs(cluster, vmSize="Standard_NC16as_T4_v3", count=1))
    assert pool["id"].split("/")[3] == body("aks-pool-gpu")["id"].split("/")[3]


def test_a_private_cluster_has_the_recorded_names_and_link(azure: Azure, group: Properties) -> None:
    recorded = flat(body("aks-private-cluster"))
    cluster = made(azure, group, apiServerAccessProfile={"enablePrivateCluster": True})
    assert differences(recorded, {name: cluster[name] for name in recorded}) == {}
    labels = {cluster[name].partition(".")[0] for name in ("fqdn", "privateFQDN", "azurePortalFQDN")}
    assert len(labels) == 3, "no name tells another"
    assert cluster["privateLinkResources"][0]["id"] == f"{cluster['id']}/privateLinkResources/management"


def test_a_gpu_pool_has_the_recorded_fields(azure: Azure, group: Properties) -> None:
    wanted = {"vmSize": "Standard_NC16as_T4_v3", "count": 1, "gpuProfile": {"driver": "Install"}}
    pool = shown(azure.create(POOL, "gpu", **pool_inputs(made(azure, group), **wanted)))
    later = ("eTag", "securityProfile.sshAccess", "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable")
    assert set(later) - {"eTag"} <= set(shape(flat(body("aks-cluster"))["agentPoolProfiles"][0])), "recorded in 2026"
    assert differences(flat(body("aks-pool-gpu")), pool) == {**dict.fromkeys(later, "added"), **PROVIDERS_OWN}


def test_an_infiniband_pool_has_the_recorded_fields(azure: Azure, group: Properties) -> None:
    wanted = {"vmSize": "Standard_ND96asr_v4", "count": 1, "gpuInstanceProfile": "MIG3g", "osDiskSizeGB": 128}
    pool = shown(azure.create(POOL, "nd", **pool_inputs(made(azure, group), **wanted)))
    recorded, gpu = flat(body("aks-pool-infiniband")), flat(body("aks-pool-gpu"))
    found = differences(recorded, pool)
    assert {path for path, what in found.items() if what == "left out"} == {"workloadRuntime", "enableCustomCATrust"}
    later = {path.partition(".")[0] for path, what in found.items() if what == "added"}
    assert later <= set(gpu) | {"eTag", *PROVIDERS_OWN}, "what AKS shows since"
    assert (pool["osDiskType"], pool["osDiskSizeGB"]) == (recorded["osDiskType"], recorded["osDiskSizeGB"])


@pytest.mark.parametrize(
    ("size", "asked", "disk"),
    [
        ("Standard_D8ds_v5", {}, ("Ephemeral", 300)),
        ("Standard_D8ds_v5", {"osDiskSizeGB": 0}, ("Ephemeral", 300)),
        ("Standard_D8ds_v5", {"osDiskType": "Managed"}, ("Managed", 256)),
        ("Standard_D8s_v5", {}, ("Managed", 256)),
        ("Standard_HB120rs_v3", {}, ("Ephemeral", 480)),
        ("Standard_ND96asr_v4", {}, ("Ephemeral", 2048)),
    ],
)
def test_a_disk_for_which_nobody_asked_is_the_whole_temporary_disk_or_goes_by_vcpus(
    azure: Azure, group: Properties, size: str, asked: dict[str, Any], disk: tuple[str, int]
) -> None:
    pool = azure.create(POOL, "pool", **pool_inputs(made(azure, group), vmSize=size, count=1, **asked))
    assert (pool["osDiskType"], pool["osDiskSizeGB"]) == disk


def test_a_pool_that_was_written_down_without_what_is_off_can_be_changed(azure: Azure, group: Properties) -> None:
    pool = azure.create(POOL, "gpu", **pool_inputs(made(azure, group), vmSize="Standard_NC16as_T4_v3", count=1))
    record = azure.cloud.store.get(pool["id"])
    assert record
    for field in ("enableNodePublicIP", "enableEncryptionAtHost", "enableUltraSSD"):
        assert record.outputs.pop(field) is False
    assert azure.update(POOL, "gpu", pool, nodeLabels={"a": "b"})["nodeLabels"] == {"a": "b"}


def test_the_inline_pools_of_a_cluster_are_in_its_own_state(azure: Azure, group: Properties) -> None:
    cluster = made(azure, group)
    record = azure.cloud.store.get(cluster["id"])
    assert record
    azure.cloud.start = lambda _: None
    azure.cloud.begin(record, "update")
    azure.operations.show_state(record, "Updating")
    (pool,) = azure.read(CLUSTER, "aks", cluster["id"])["agentPoolProfiles"]
    assert pool["provisioningState"] == "Updating"


def test_a_refusal_has_the_recorded_form(azure: Azure, group: Properties) -> None:
    printed = refused("last-system-pool").of_aks().partition('Message="')[2].removesuffix('"')
    assert shape(json.loads(printed)) == shape(body("aks-cluster-refused"))
    real = body("aks-cluster-not-found")["error"]
    told = not_found("Microsoft.ContainerService/managedClusters", "cliakstest000002", "clitest000001")
    assert (told.status.value, told.code, told.message) == (404, real["code"], real["message"])
    where = {"resourceGroupName": group["name"], "resourceName": "none"}
    with pytest.raises(RefusedError, match=r"'Microsoft\.ContainerService/managedClusters/none'"):
        azure.invoke("containerservice:getManagedCluster", **where)
