"""The number of machines that the simulated Azure has for an agent pool: quota, placement groups, capacity,
reservations.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from rehearsal.azure.subscription import CapacityReservationGroup
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import (
    SUBSCRIPTION,
    Azure,
    MakeAzure,
    RefusedError,
    cluster_inputs,
    pool_inputs,
)
from tests.simulator.unit.azure.pools import CLUSTER, POOL, machines

SUBSCRIPTION_ID: Final = f"/subscriptions/{SUBSCRIPTION.subscription_id}"
RESERVED: Final = f"{SUBSCRIPTION_ID}/resourceGroups/reserved/providers/Microsoft.Compute/capacityReservationGroups/d8"
SIZE: Final = "Standard_D8s_v5"
IDENTITY: Final = (
    f"{SUBSCRIPTION_ID}/resourceGroups/network/providers/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
)


def cluster_that_may(azure: Azure) -> Properties:
    """One whose identity may use the reservation."""
    identity = {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]}
    return azure.create(
        CLUSTER, "aks", **cluster_inputs(azure.create("resources:ResourceGroup", "rg"), identity=identity)
    )


def test_clusters_of_another_region_do_not_count(tmp_path: Path) -> None:
    azure = Azure(tmp_path, SUBSCRIPTION.model_copy(update={"managed_clusters": 1}), clusters=2)
    group = azure.create("resources:ResourceGroup", "rg")
    azure.create(CLUSTER, "far", **{**cluster_inputs(group), "location": "westeurope"})
    azure.create(CLUSTER, "near", **cluster_inputs(group))


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


def test_a_reservation_that_is_not_there_is_refused(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match=r"capacity reservation group .*d8x' .* was not found"):
        azure.create(POOL, "pool", **pool_inputs(cluster, capacityReservationGroupID=f"{RESERVED}x"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "it is zonal .* and the agent pool does not have a zone"),
        ({"availabilityZones": ["2"]}, "it reserves nothing in zones 2"),
        (
            {"availabilityZones": ["1"], "vmSize": "Standard_D16s_v5"},
            "it reserves no machine of size 'Standard_D16s_v5', only Standard_D8s_v5",
        ),
        *(
            ({"availabilityZones": ["1"], "vmSize": size}, f"capacity reservation is not available for size '{size}'")
            for size in ("Standard_ND96isr_H100_v5", "Standard_HB120rs_v3", "Standard_HC44rs", "Standard_HX176rs")
        ),
    ],
)
def test_a_reservation_of_something_else_is_refused(azure: Azure, changes: dict[str, Any], words: str) -> None:
    cluster = cluster_that_may(azure)
    wanted = {"vmSize": SIZE, "capacityReservationGroupID": RESERVED, **changes}
    with pytest.raises(RefusedError, match=f"OperationNotAllowed.*{words}"):
        azure.create(POOL, "pool", **pool_inputs(cluster, **wanted))


def test_a_reservation_is_for_clusters_whose_identity_may_use_it(azure: Azure) -> None:
    group = azure.create("resources:ResourceGroup", "rg")
    own = azure.create("managedidentity:UserAssignedIdentity", "own", resourceGroupName=group["name"])
    identity = {"type": "UserAssigned", "userAssignedIdentities": [own["id"]]}
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group, identity=identity))
    of_group = {"capacityReservationGroupID": RESERVED, "availabilityZones": ["1"]}
    wanted = pool_inputs(cluster, vmSize=SIZE, **of_group)
    with pytest.raises(RefusedError, match=rf"AuthorizationFailed.*'{own['principalId']}'.*deploy/action"):
        azure.create(POOL, "nd", **wanted)
    azure.create(
        "authorization:RoleAssignment",
        "use",
        principalId=own["principalId"],
        principalType="ServicePrincipal",
        scope=RESERVED.partition("/providers/")[0],
        roleDefinitionId="/x/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c",
    )
    assert azure.create(POOL, "nd", **wanted)["provisioningState"] == "Succeeded"


def test_a_group_has_its_reserved_machines_when_others_are_short_and_no_more_than_those(make_azure: MakeAzure) -> None:
    group = CapacityReservationGroup(region="southcentralus", zones=("1",), machines={SIZE: 2})
    azure = make_azure(capacity={SIZE: 0}, capacity_reservation_groups={RESERVED: group})
    cluster = cluster_that_may(azure)
    with pytest.raises(RefusedError, match="AllocationFailed"):
        azure.create(POOL, "other", **pool_inputs(cluster, vmSize=SIZE, count=1))
    reserved = pool_inputs(cluster, vmSize=SIZE, capacityReservationGroupID=RESERVED.upper(), availabilityZones=["1"])
    azure.create(POOL, "reserved", **reserved)
    with pytest.raises(RefusedError, match="AllocationFailed"):
        azure.create(POOL, "more", **{**reserved, "count": 1})
