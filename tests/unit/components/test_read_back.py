"""A node pool that Azure has, read back into a stack file's keys, and compared with a stack's request."""

from typing import Any, Final

from aks_infiniband.azure import read_back
from aks_infiniband.azure.machines import OrdinaryPool, Sent

from tests.unit.components.pools_in_azure import in_azure, infiniband, ordinary

GROUP: Final = "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers"
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


def test_what_is_left_alone_is_neither_asked_for_nor_moved_by_others() -> None:
    alone = read_back.left_alone(infiniband())
    assert {"kubeletConfig", "linuxOSConfig", "maxPods", "osDiskSizeGB", "scaleDownMode"} <= set(alone)
    assert not {"vmSize", "nodeLabels", "nodeTaints", "tags", "count", "orchestratorVersion", "powerState"} & set(alone)
    assert "maxPods" not in read_back.left_alone(infiniband(max_pods=110)), "a stack file that says it means it"


def test_resource_ids_are_the_same_whatever_their_case() -> None:
    subnet = f"{GROUP}/Microsoft.Network/virtualNetworks/v/subnets/s"
    shown = {"vnetSubnetID": subnet.lower()}
    assert list(read_back.differences(shown, {"vnetSubnetID": subnet})) == []
