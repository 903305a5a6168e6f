"""An existing cluster: nodes by label, and nothing of Azure."""

from typing import Any

import pytest
from aks_infiniband import load

from tests.unit.components.stack_files import NODE_SUBNET, changed, existing, mistakes, pool

SNAPSHOT = NODE_SUBNET.partition("/providers")[0] + "/providers/Microsoft.ContainerService/snapshots/one"
RESERVATION = NODE_SUBNET.partition("/providers")[0] + "/providers/Microsoft.Compute/capacityReservationGroups/one"


def of(label: str, **more: Any) -> Any:
    return pool(nodeSelector={"pool": label}, **more)


def test_a_kubeconfig_and_labels_are_all_it_takes() -> None:
    stack = load(existing(of("a"), of("b", name="b")))
    assert stack.existing is not None
    assert stack.existing.server == "https://lab.example.com:6443"
    assert stack.pools[0].node_selector == {"pool": "a"}


def test_an_existing_cluster_does_not_stand_beside_one_that_is_made() -> None:
    found = mistakes(changed(existingCluster={"context": "capz"}))
    assert found["existingCluster"] == "cannot be given with aks-infiniband:cluster: keep one of them"


def test_a_region_is_refused_with_an_existing_cluster() -> None:
    found = mistakes({**existing(of("a")), "azure-native:location": "westeurope"})
    assert list(found) == ["azure-native:location"]
    assert "is 'westeurope'; is for a cluster that Azure's resources describe" in found["azure-native:location"]


def test_a_region_is_needed_for_a_cluster_that_is_made() -> None:
    stack = changed()
    del stack["azure-native:location"]
    assert mistakes(stack) == {
        "azure-native:location": "is missing; it must name an Azure region, such as southcentralus"
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("autoscale", {"minCount": 2, "maxCount": 4}),
        ("labels", {"team": "a"}),
        ("osSku", "Ubuntu"),
        ("osDiskSizeGb", 256),
        ("osDiskType", "Managed"),
        ("nodeImageSnapshotId", SNAPSHOT),
        ("capacityReservationGroupId", RESERVATION),
        ("priority", "Regular"),
        ("zones", ["1"]),
    ],
)
def test_a_key_of_azures_pools_is_refused_in_an_existing_cluster(key: str, value: Any) -> None:
    found = mistakes(existing(of("a", **{key: value})))
    assert list(found) == [f"pools[0].{key}"]
    assert f"is {value!r}; is for pools that are made in Azure" in found[f"pools[0].{key}"]


def test_the_same_keys_are_taken_in_azure() -> None:
    azure = {"nodeImageSnapshotId": SNAPSHOT, "osDiskType": "Ephemeral"}
    reserved = {"name": "cpu", "vmSize": "Standard_D8s_v5", "infiniband": False, "count": 1}
    reserved["capacityReservationGroupId"] = RESERVATION
    assert load(changed(pools=[pool(**azure, osDiskSizeGb=256, labels={"a": "b"}), reserved]))


@pytest.mark.parametrize("size", ["Standard_ND96isr_H100_v5", "Standard_HB176rs_v4", "Standard_HC44rs"])
@pytest.mark.parametrize("infiniband", [True, False])
def test_a_reservation_is_refused_where_azure_makes_none(size: str, infiniband: bool) -> None:
    given = {"name": "b", "vmSize": size, "count": 2, "infiniband": infiniband}
    found = mistakes(changed(pools=[pool(), {**given, "capacityReservationGroupId": RESERVATION}]))
    assert f"Azure reserves no capacity for {size}" in found["pools[1].capacityReservationGroupId"]
    assert "Request quota" in found["pools[1].capacityReservationGroupId"]


def test_pools_of_an_existing_cluster_need_labels_that_tell_their_nodes() -> None:
    assert "is missing; in an existing cluster it must give" in mistakes(existing(pool()))["pools[0].nodeSelector"]


def test_a_node_selector_is_refused_in_azure() -> None:
    assert (
        "the agent pool identifies the nodes of this one: leave it out"
        in mistakes(changed(pools=[of("a")]))["pools[0].nodeSelector"]
    )


@pytest.mark.field_report("A2c")
@pytest.mark.parametrize(
    ("first", "second"),
    [({"a": "1"}, {"b": "1"}), ({"a": "1"}, {"a": "1", "b": "2"}), ({"a": "1"}, {"a": "1"})],
)
def test_two_pools_that_the_same_nodes_could_belong_to_are_refused(first: Any, second: Any) -> None:
    found = mistakes(existing(pool(nodeSelector=first), pool(name="b", nodeSelector=second)))
    assert list(found) == ["pools[1].nodeSelector"]
    assert "two pools never share a fabric; give a label that both have another" in found["pools[1].nodeSelector"]


def test_ordinary_pools_are_not_listed_in_an_existing_cluster() -> None:
    ordinary = {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False}
    found = mistakes(existing(of("a"), {**ordinary, "nodeSelector": {"pool": "b"}}))
    assert list(found) == ["pools[1].infiniband"]


@pytest.mark.field_report("A4")
def test_gpus_that_the_operator_must_not_touch_are_labelled_by_whoever_keeps_the_nodes() -> None:
    found = mistakes(existing(of("a"), of("b", name="b", gpuDriver="none")))
    assert 'must hold nvidia.com/gpu.deploy.operands: "false"' in found["pools[1].nodeSelector"]
    labelled = {"pool": "b", "nvidia.com/gpu.deploy.operands": "false"}
    assert load(existing(of("a"), pool(name="b", gpuDriver="none", nodeSelector=labelled)))
    assert load(existing(of("a", gpuDriver="none"))), "no GPU Operator runs"


def test_feature_and_os_are_the_business_of_whoever_made_the_cluster() -> None:
    labelled = {"pool": "b", "nvidia.com/gpu.deploy.operands": "false"}
    gb300 = pool(name="b", vmSize="Standard_ND128isr_GB300_v6", nicDriver="doca-ofed", nodeSelector=labelled)
    assert load(existing(of("a"), gb300))


def test_a_name_that_azure_keeps_for_its_system_pool_is_free_elsewhere() -> None:
    assert load(existing(of("a", name="system")))
