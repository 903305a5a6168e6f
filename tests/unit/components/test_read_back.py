"""A node pool that Azure has, read back into a stack file's keys, and compared with a stack's request."""

from typing import Any, Final

import pytest
from aks_infiniband.azure import read_back
from aks_infiniband.azure.machines import Machines, OrdinaryPool, Sent
from aks_infiniband.azure.node_pool import InfinibandNodePoolArgs, OrdinaryNodePoolArgs
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool

GROUP: Final = "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers"
PLACE: Final[dict[str, Any]] = {"resource_group_name": "g", "cluster_name": "c"}
VALUES: Final[dict[str, Any]] = {
    "labels": {"team": "ml"},
    "max_pods": 60,
    "os_sku": "AzureLinux",
    "os_disk_size_gb": 256,
    "os_disk_type": "Managed",
    "node_image_snapshot_id": f"{GROUP}/Microsoft.ContainerService/snapshots/one",
    "capacity_reservation_group_id": f"{GROUP}/Microsoft.Compute/capacityReservationGroups/one",
    "zones": ("1",),
    "kubernetes_version": "1.34",
}
"""One for each field with which a property is sent; no default."""
AKSS_OWN: Final[dict[str, Any]] = {
    "kubeletDiskType": "OS",
    "workloadRuntime": "OCIContainer",
    "maxPods": 250,
    "osDiskSizeGB": 1000,
    "osDiskType": "Ephemeral",
    "scaleDownMode": "Delete",
    "provisioningState": "Succeeded",
    "powerState": {"code": "Running"},
    "orchestratorVersion": "1.35",
    "currentOrchestratorVersion": "1.35.5",
    "enableNodePublicIP": False,
    "enableEncryptionAtHost": False,
    "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202606.08.1",
    "upgradeStrategy": "Rolling",
    "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
    "upgradeSettingsBlueGreen": {},
    "enableFIPS": False,
    "networkProfile": {},
    "securityProfile": {"sshAccess": "LocalUser", "enableVTPM": False, "enableSecureBoot": False},
    "eTag": "24a95c38-e1b5-48b1-a3b3-189ac2676381",
}
"""AKS's values of a pool in addition to the requested ones: that of 2026-06-20 in
tests/field_recordings/aks-bodies.yaml.
"""


def infiniband(gpu_driver: Any = "operator", **machines: Any) -> InfinibandNodePoolArgs:
    size = SIZES["Standard_ND96isr_H100_v5"]
    pool = Pool(name="ndh100", size=size, node_count=2, gpu_driver=gpu_driver)
    return InfinibandNodePoolArgs(pool=pool, machines=Machines(**machines), **PLACE)


def ordinary(**more: Any) -> OrdinaryNodePoolArgs:
    return OrdinaryNodePoolArgs(pool=OrdinaryPool(name="cpu", vm_size="Standard_D8s_v5", count=3, **more), **PLACE)


def in_azure(args: Any, **more: Any) -> dict[str, Any]:
    """A pool that was made with these arguments, as Azure shows it."""
    return {"name": args.pool.name, "count": 2, **AKSS_OWN, **read_back.asked(args), **more}


def sent_fields() -> set[str]:
    return {
        name
        for name, field in OrdinaryPool.model_fields.items()
        if any(isinstance(marker, Sent) for marker in field.metadata)
    }


def test_there_is_a_value_for_every_property_that_is_sent() -> None:
    assert set(VALUES) == sent_fields()


def test_each_property_of_the_table_is_read_back_as_it_was_written() -> None:
    for field in sorted(set(VALUES) - {"kubernetes_version"}):
        args = ordinary(**{field: VALUES[field]})
        keys = read_back.keys_of(in_azure(args))
        alias = OrdinaryPool.model_fields[field].alias
        assert (
            OrdinaryPool.model_validate(
                {alias: keys[str(alias)], "name": "a", "vmSize": "Standard_D8s_v5", "count": 1}
            ).model_dump()[field]
            == VALUES[field]
        )


def test_the_version_of_kubernetes_is_no_description_of_a_pool_because_others_raise_it() -> None:
    assert "kubernetesVersion" not in read_back.keys_of(in_azure(ordinary()))


def test_taints_priority_and_autoscale_are_read_back_without_what_azure_adds_for_spot() -> None:
    args = ordinary(priority="Spot", taints=("a=b:NoSchedule",), labels={"team": "ml"}, autoscale=None)
    keys = read_back.keys_of(in_azure(args, enableAutoScaling=True, minCount=1, maxCount=4))
    assert keys["taints"] == ["a=b:NoSchedule"]
    assert keys["priority"] == "Spot"
    assert keys["labels"] == {"team": "ml"}
    assert keys["autoscale"] == {"minCount": 1, "maxCount": 4}


def test_the_label_that_the_program_gives_is_no_label_of_the_stack_file() -> None:
    assert "labels" not in read_back.keys_of(in_azure(infiniband(gpu_driver="none")))


@pytest.mark.parametrize("args", [infiniband(), infiniband("aks"), ordinary(), ordinary(priority="Spot")])
def test_a_pool_that_this_program_made_differs_in_nothing(args: Any) -> None:
    found = in_azure(args)
    assert list(read_back.differences(found, read_back.asked(args))) == []
    assert list(read_back.beyond(found, args)) == []


def test_a_pool_that_others_made_differs_in_how_it_is_upgraded() -> None:
    args = infiniband()
    found = {**in_azure(args), "upgradeSettings": AKSS_OWN["upgradeSettings"]}
    (change,) = read_back.differences(found, read_back.asked(args))
    assert not change.replaces
    assert str(change).startswith(
        "upgradeSettings from {maxSurge: 10%, maxUnavailable: 0} to {maxSurge: 0, maxUnavailable: 1}: "
    )


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"vmSize": "standard_nd96isr_h100_v5"}, "vmSize from standard_nd96isr_h100_v5 to Standard_ND96isr_H100_v5"),
        ({"gpuProfile": {"driver": "Install"}}, "gpuProfile from {driver: Install} to {driver: None}"),
        ({"gpuProfile": {"driver": "None", "driverType": "CUDA"}}, "gpuProfile from "),
        ({"type": "VirtualMachines"}, "type from VirtualMachines"),
        ({"osType": "Windows"}, "osType from Windows to Linux"),
    ],
)
def test_what_azure_cannot_change_in_place_is_told_as_a_replacement(shown: Any, words: str) -> None:
    args = infiniband()
    replacing = [
        str(each) for each in read_back.differences(in_azure(args, **shown), read_back.asked(args)) if each.replaces
    ]
    assert len(replacing) == 1
    assert replacing[0].startswith(words)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"kubeletConfig": {"cpuManagerPolicy": "static"}}, "kubeletConfig: {cpuManagerPolicy: static}"),
        ({"enableFIPS": True}, "enableFIPS: True"),
        ({"upgradeStrategy": "BlueGreen"}, "upgradeStrategy: BlueGreen"),
        ({"securityProfile": {"enableVTPM": True}}, "securityProfile: {enableVTPM: True}"),
        ({"aPropertyOfTomorrow": "on"}, "aPropertyOfTomorrow: on"),
    ],
)
def test_what_a_stack_file_has_no_key_for_is_told(shown: Any, words: str) -> None:
    args = infiniband()
    assert list(read_back.beyond(in_azure(args, **shown), args)) == [words]


def test_what_is_left_alone_is_neither_asked_for_nor_moved_by_others() -> None:
    alone = read_back.left_alone(infiniband())
    assert {"kubeletConfig", "linuxOSConfig", "maxPods", "osDiskSizeGB", "scaleDownMode"} <= set(alone)
    assert not {"vmSize", "nodeLabels", "nodeTaints", "tags", "count", "orchestratorVersion", "powerState"} & set(alone)
    assert "maxPods" not in read_back.left_alone(infiniband(max_pods=110)), "a stack file that says it means it"


def test_resource_ids_are_the_same_whatever_their_case() -> None:
    subnet = f"{GROUP}/Microsoft.Network/virtualNetworks/v/subnets/s"
    found = {"vnetSubnetID": subnet.lower()}
    assert list(read_back.differences(found, {"vnetSubnetID": subnet})) == []
