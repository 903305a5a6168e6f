"""Pure parts: node documents, names, the subscription file."""

from typing import Any, get_args

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.machines import PoolFacts, labels, node, node_name
from rehearsal.azure.node_parts import allocatable
from rehearsal.azure.resources import KINDS
from rehearsal.azure.subscription import load
from rehearsal.azure.subscription_faults import FaultType

POOL: dict[str, Any] = {
    "name": "ndh100", "mode": "User", "type": "VirtualMachineScaleSets", "osSKU": "Ubuntu", "osDiskType": "Managed",
    "osDiskSizeGB": 128, "maxPods": 250, "availabilityZones": ["1", "3"],
}  # fmt: skip


def facts(**changes: Any) -> PoolFacts:
    base: dict[str, Any] = {
        "pool": POOL,
        "size_name": "Standard_ND96isr_H100_v5",
        "size": SIZES["Standard_ND96isr_H100_v5"],
        "cluster_id": "/subscriptions/s/resourceGroups/rg/providers/x/managedClusters/aks",
        "node_group": "MC_rg_aks_southcentralus",
        "subscription_id": "s",
        "location": "southcentralus",
        "kubelet_version": "v1.36.3",
        "fabric": None,
        "subnet": "10.224.0.0/16",
        "pod_range": None,
    }
    return PoolFacts(**{**base, **changes})


def test_instances_are_numbered_in_base_36() -> None:
    assert node_name(facts(), 0).endswith("-vmss000000")
    assert node_name(facts(), 35).endswith("-vmss00000z")
    assert node_name(facts(), 36).endswith("-vmss000010")


def test_pools_of_a_cluster_share_its_digits_and_clusters_do_not() -> None:
    other_pool = facts(pool={**POOL, "name": "hb"})
    assert node_name(facts(), 0).split("-")[2] == node_name(other_pool, 0).split("-")[2]
    assert node_name(facts(), 0).split("-")[2] != node_name(facts(cluster_id="/other"), 0).split("-")[2]


def test_machines_go_round_the_zones() -> None:
    zones = [labels(facts(), instance)["topology.kubernetes.io/zone"] for instance in range(3)]
    assert zones == ["southcentralus-1", "southcentralus-3", "southcentralus-1"]


def test_a_machine_without_a_zone_reports_a_fault_domain() -> None:
    assert labels(facts(pool={**POOL, "availabilityZones": None}), 0)["topology.kubernetes.io/zone"] == "0"


def test_reservations_are_those_aks_documents() -> None:
    free = allocatable(SIZES["Standard_ND96isr_H100_v5"], 128, 250)
    assert free["cpu"] == "94940m"  # 96 cores less 1060m
    reserved = (20 * 250 + 50) * 1000 * 1000 // 1024 + 100 * 1024
    assert free["memory"] == f"{1900 * 1024 * 1024 - reserved}Ki"


@pytest.mark.parametrize(
    ("group", "label"),
    [
        ("MC_rg_aks_southcentralus", "MC_rg_aks_southcentralus"),
        ("nodes(lab)1", "nodes-lab-1"),
        ("g" * 63 + "h", "g" * 63),
        ("g" * 62 + "-cut-off", "g" * 62 + "z"),
        ("g" * 62 + ")", "g" * 62 + "z"),
        ("nodes(lab)", "nodes-lab-z"),
        ("nodes_", "nodes_z"),
    ],
)
def test_a_label_names_the_node_resource_group_as_aks_cuts_it(group: str, label: str) -> None:
    assert labels(facts(node_group=group), 0)["kubernetes.azure.com/cluster"] == label


def test_a_node_document_is_the_same_every_time() -> None:
    assert node(facts(), 1, 5) == node(facts(), 1, 5)


def test_a_fault_can_be_of_every_type_that_is_simulated() -> None:
    assert {kind.rpartition(":")[2] for kind in KINDS} | {"Provider", "VirtualMachine"} == set(get_args(FaultType))


def test_every_series_of_the_catalogue_has_a_quota() -> None:
    assert {size.series for size in SIZES.values()} <= set(load().series)


def test_a_minor_version_means_its_newest_patch() -> None:
    assert load().patch_of("1.35") == "1.35.8"
    assert load().patch_of("1.20") is None
