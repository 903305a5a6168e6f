"""The effects of an agent pool's properties on its machines, and Azure's refusals of them."""

import json
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.node_images import newest_release
from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from rehearsal.azure.resources.pool_defaults import defaults
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, RefusedError, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.pools import IN_PLACE

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


@pytest.mark.parametrize(
    ("kubernetes", "sku", "effective", "os_image", "kernel"),
    [
        ("1.34", None, "Ubuntu2204", "Ubuntu 22.04", "5.15."),
        ("1.35", None, "Ubuntu2404", "Ubuntu 24.04", "6.8."),
        ("1.35", "Ubuntu2204", "Ubuntu2204", "Ubuntu 22.04", "5.15."),
        ("1.35", "AzureLinux", "AzureLinux3", "Microsoft Azure Linux", "6.6."),
    ],
)
def test_what_nodes_run_follows_the_os_sku_and_the_version_of_kubernetes(
    azure: Azure, kubernetes: str, sku: str | None, effective: str, os_image: str, kernel: str
) -> None:
    cluster = cluster_on(azure, kubernetesVersion=kubernetes, **LONG_TERM_SUPPORT)
    azure.create(POOL, "hb", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", **({"osSKU": sku} if sku else {})))
    node = machine(azure, "hb")
    labels, info = node["metadata"]["labels"], node["status"]["nodeInfo"]
    assert labels["kubernetes.azure.com/os-sku-effective"] == effective
    assert labels["kubernetes.azure.com/os-sku"] == (sku or "Ubuntu")
    assert info["osImage"].startswith(os_image)
    assert info["kernelVersion"].startswith(kernel)
    assert labels["kubernetes.azure.com/node-image-version"].startswith("AKS")


@pytest.mark.parametrize(
    ("changes", "driver"),
    [
        ({"gpuProfile": {"driver": "None"}}, "None"),
        ({"gpuProfile": {"driver": "Install"}}, "Install"),
        ({"gpuProfile": None}, "Install"),
        ({"gpuProfile": None, "vmSize": "Standard_NC24ads_A100_v4"}, "Install"),
        ({"gpuProfile": None, "vmSize": "Standard_HB120rs_v3"}, "None"),
    ],
)
def test_aks_installs_nvidias_driver_unless_it_is_told_not_to(
    azure: Azure, cluster: Properties, changes: dict[str, Any], driver: str
) -> None:
    wanted = {key: value for key, value in pool_inputs(cluster, **changes).items() if value is not None}
    azure.create(POOL, "pool", **wanted)
    annotation = json.loads(machine(azure, "pool")["metadata"]["annotations"][MACHINE_ANNOTATION])
    assert annotation["gpuDriver"] == driver


@pytest.mark.field_report("R19")
@pytest.mark.parametrize(
    ("size", "driver", "checked"),
    [
        ("Standard_ND96isr_H100_v5", "Install", True),
        ("Standard_ND96isr_H100_v5", "None", False),
        ("Standard_ND96isr_H200_v5", "Install", True),
        ("Standard_ND40rs_v2", "Install", True),
        ("Standard_HB120rs_v3", None, False),
    ],
)
def test_akss_own_checks_run_wherever_the_gpu_driver_is_its_own(
    azure: Azure, cluster: Properties, size: str, driver: str | None, checked: bool
) -> None:
    profile = {"gpuProfile": {"driver": driver} if driver else {}}
    azure.create(POOL, "pool", **pool_inputs(cluster, vmSize=size, count=1, **profile))
    found = {condition["type"]: condition["reason"] for condition in machine(azure, "pool")["status"]["conditions"]}
    assert ({"GPUMissing": "NoGPUMissing", "IBLinkFlapping": "NoIBLinkFlapping"}.items() <= found.items()) == checked
    assert bool(found) == checked


@pytest.mark.field_report("R19")
def test_who_manages_gpus_is_not_in_the_api_version_that_is_sent_and_the_profile_never_changes(
    azure: Azure, cluster: Properties
) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster, count=1))
    managed = {"driver": "None", "nvidia": {"managementMode": "Managed"}}
    with pytest.raises(RefusedError, match=r"unknown property 'gpuProfile\.nvidia'"):
        azure.update(POOL, "ndh100", pool, gpuProfile=managed)
    with pytest.raises(RefusedError, match=r"PropertyChangeNotAllowed.*properties\.gpuProfile"):
        azure.update(POOL, "ndh100", pool, gpuProfile={"driver": "Install"})
    kept = azure.update(POOL, "ndh100", pool, gpuProfile=None, nodeLabels={"a": "b"})
    assert kept["gpuProfile"] == {"driver": "None"}


def test_an_arm_size_has_arm_nodes_and_an_arm_image(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "d", **pool_inputs(cluster, vmSize="Standard_D8ps_v5", count=1, gpuProfile={}))
    assert machine(azure, "d")["status"]["nodeInfo"]["architecture"] == "arm64"
    assert pool["nodeImageVersion"].startswith("AKSUbuntu-2404gen2arm64containerd-")


@pytest.mark.field_report("R2")
def test_the_image_of_grace_blackwell_has_another_kernel_and_no_driver(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "gb", **pool_inputs(cluster, vmSize=GB300, count=1))
    node = machine(azure, "gb")
    assert pool["nodeImageVersion"].startswith("AKSUbuntu-2404gen2arm64containerd-")
    assert node["status"]["nodeInfo"]["kernelVersion"] == "6.14.0-1003-azure-nvidia"
    assert json.loads(node["metadata"]["annotations"][MACHINE_ANNOTATION])["imageHasDrivers"] is False


def test_a_pool_keeps_its_kubernetes_when_the_control_plane_gets_a_newer_one(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster))
    azure.update("containerservice:ManagedCluster", "aks", cluster, kubernetesVersion="1.36")
    updated = azure.update(POOL, "ndh100", pool, nodeLabels={"a": "b"})
    assert (updated["currentOrchestratorVersion"], azure.machines.drained) == ("1.35.8", [])


def test_a_spot_pool_is_labelled_and_tainted_by_aks(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(
        POOL,
        "spot",
        **pool_inputs(
            cluster, vmSize="Standard_D8s_v5", gpuProfile={}, scaleSetPriority="Spot", nodeTaints=["a=b:NoExecute"]
        ),
    )
    node = machine(azure, "spot")
    assert node["metadata"]["labels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert node["spec"]["taints"] == [
        {"key": "a", "value": "b", "effect": "NoExecute"},
        {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NoSchedule"},
    ]
    assert (pool["scaleSetEvictionPolicy"], pool["spotMaxPrice"]) == ("Delete", -1)


def test_an_os_disk_is_ephemeral_where_it_fits(azure: Azure, cluster: Properties) -> None:
    fits = azure.create(POOL, "hb", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", count=1))
    large = azure.create(POOL, "large", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", count=1, osDiskSizeGB=512))
    none = azure.create(POOL, "d", **pool_inputs(cluster, vmSize="Standard_D8s_v5", count=1, gpuProfile={}))
    assert [pool["osDiskType"] for pool in (fits, large, none)] == ["Ephemeral", "Managed", "Managed"]
    labels = [machine(azure, pool)["metadata"]["labels"] for pool in ("hb", "large", "d")]
    assert [found.get("kubernetes.azure.com/storageprofile") for found in labels] == [None, "managed", "managed"]


def test_a_snapshot_keeps_the_node_image_and_another_one_comes_in_place_node_by_node(
    azure: Azure, cluster: Properties
) -> None:
    source = {"sourceResourceId": f"{SNAPSHOTS}/ubuntu2404"}
    wanted = pool_inputs(cluster, creationData=source, upgradeSettings=IN_PLACE)
    pool = azure.create(POOL, "ndh100", **wanted)
    label = "kubernetes.azure.com/node-image-version"
    assert machine(azure, "ndh100")["metadata"]["labels"][label].endswith("-202609.15.0")
    azure.update(POOL, "ndh100", pool, creationData=None)
    nodes = {name: node for name, node in azure.machines.nodes.items() if "ndh100" in name}
    assert azure.machines.drained == list(nodes), "drained one after the other, under their own names again"
    assert {node["metadata"]["labels"][label] for node in nodes.values()} == {
        f"AKSUbuntu-2404gen2containerd-{newest_release(datetime.now(tz=UTC).date())}"
    }


@pytest.mark.field_report("R12")
def test_a_newer_kubernetes_drains_and_reimages_every_node_and_changes_the_system_that_ubuntu_is(azure: Azure) -> None:
    cluster = cluster_on(azure, kubernetesVersion="1.34", **LONG_TERM_SUPPORT)
    pool = azure.create(POOL, "ndh100", **pool_inputs(cluster, upgradeSettings=IN_PLACE))
    system = ("osImage", "kernelVersion", "containerRuntimeVersion")
    before = [machine(azure, "ndh100")["status"]["nodeInfo"][key] for key in system]
    assert before == ["Ubuntu 22.04.5 LTS", "5.15.0-1102-azure", "containerd://1.7.30-1"]
    azure.update("containerservice:ManagedCluster", "aks", cluster, kubernetesVersion="1.35")
    azure.machines.drained.clear()
    azure.update(POOL, "ndh100", pool, orchestratorVersion="1.35")
    assert len(azure.machines.drained) == 2
    after = [machine(azure, "ndh100")["status"]["nodeInfo"][key] for key in system]
    assert after == ["Ubuntu 24.04.3 LTS", "6.8.0-1046-azure", "containerd://2.3.2-1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scaleSetPriority": "Spot", "upgradeSettings": {"maxSurge": "1"}}, "Spot pools can't set max surge"),
        ({"scaleSetPriority": "Spot", "upgradeSettings": {"maxUnavailable": "1"}}, "Spot pools can't set maxUnav"),
        ({"scaleSetPriority": "Spot", "mode": "System"}, "cannot be a spot pool"),
        ({"vmSize": "Standard_D8s_v5", "osDiskType": "Ephemeral"}, "VMSizeDoesNotSupportEphemeralOS.*Standard_D8s_v5"),
        (
            {"vmSize": "Standard_HB120rs_v3", "osDiskType": "Ephemeral", "osDiskSizeGB": 600},
            "VMCacheSizeTooSmall.*cache size of 515396075520 bytes, but the OS disk requires 644245094400",
        ),
        ({"osSKU": "CBLMariner"}, "OS SKU 'CBLMariner' of agent pool 'pool' is not supported with Kubernetes version"),
        ({"creationData": {"sourceResourceId": f"{SNAPSHOTS}/none"}}, "ResourceNotFound.*snapshots/none"),
        (
            {"creationData": {"sourceResourceId": f"{SNAPSHOTS}/ubuntu2404"}, "osSKU": "Ubuntu2204"},
            "snapshot's OS SKU is Ubuntu2404, the agent pool's is Ubuntu2204",
        ),
        (
            {
                "creationData": {"sourceResourceId": f"{SNAPSHOTS}/ubuntu2404"},
                "vmSize": GB300,
            },
            "node image is for amd64",
        ),
    ],
)
def test_azure_refuses(azure: Azure, cluster: Properties, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        azure.create(POOL, "pool", **pool_inputs(cluster, **changes))
    assert [name for name in azure.machines.nodes if "-pool-" in name] == []


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
