"""One mistake of a stack file hides no other, and whatever a file holds gets an answer."""

from typing import Any

import pytest
from aks_infiniband import SettingsError, load

from tests.unit.components.stack_files import changed, cluster, mistakes, pool


def test_a_mistake_in_one_section_does_not_hide_an_inconsistency_in_another() -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "x"}, pools=[pool(count=1), pool(name="B")]))
    assert set(found) == {"cluster.kubernetesVersion", "pools[0].count", "pools[1].name"}


def test_a_wrong_field_of_a_pool_does_not_hide_an_inconsistency_of_another_field() -> None:
    found = mistakes(changed(pools=[pool(), pool(vmSize="Standard_D8s_v5", count=1)]))
    assert set(found) == {"pools[1].vmSize", "pools[1].count", "pools[1].name"}


def test_a_wrong_field_of_the_only_pool_hides_nothing_either() -> None:
    found = mistakes(changed(pools=[pool(vmSize="Standard_ND96isr_H100", cuont=2)]))
    assert set(found) == {"pools[0].cuont", "pools[0].vmSize"}


def test_a_wrong_value_of_the_cluster_does_not_hide_an_inconsistency_of_its_others() -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "x", "network": {"subnet": "x", "podCidr": "10.0.0.0/16"}}))
    assert set(found) == {"cluster.kubernetesVersion", "cluster.network.subnet", "cluster.network.serviceCidr"}


@pytest.mark.parametrize(
    "broken",
    [
        {"pools": [pool(mode="ipob", ipoibDevices=["ibP257p0s0"])]},
        {"pools": [pool(gpuDriver="x"), pool(name="b", gpuDriver="aks")]},
        {"pools": [pool(nicDriver="x", osSku="Ubuntu2204")]},
        {"pools": [pool(count="x", autoscale={"minCount": 2, "maxCount": 4})]},
        {"pools": [pool(autoscale={"minCount": "x", "maxCount": 1})]},
        {"networkOperator": {"mode": "x", "ipoib": {"range": "10.0.0.0/30"}}},
        {"networkOperator": {"ipoib": {"range": "x"}, "mode": "ipoib"}},
        {"pools": ["x", pool()]},
        {"readiness": {"timeoutSeconds": "x", "stableSeconds": 9000}},
    ],
)
def test_what_depends_on_a_value_that_is_not_well_formed_is_not_guessed_at(broken: Any) -> None:
    assert len(mistakes(changed(**broken))) == 1


def test_an_empty_configuration_is_told_what_it_needs() -> None:
    assert mistakes({}) == {
        "pools": "is missing; it must list at least one pool: name, vmSize and count",
        "cluster": 'is missing: give at least kubernetesVersion, such as {kubernetesVersion: "1.35"}; '
        "or name a cluster that is there under aks-infiniband:existingCluster",
    }


EVERYTHING: Any = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": cluster(
        name="one",
        systemPool={"vmSize": "Standard_D8s_v5", "count": 2, "zones": ["1"]},
        network={"addressSpace": "10.224.0.0/12", "subnet": "10.224.0.0/16", "outboundType": "loadBalancer"},
        apiServer={"private": False, "authorizedIpRanges": ["52.1.2.0/24"]},
        access={"entraId": True, "adminGroupObjectIds": [], "localAccounts": False, "login": "spn"},
    ),
    "aks-infiniband:pools": [
        pool(
            mode="ipoib",
            nicDriver="inbox",
            gpuDriver="aks",
            ipoibDevices=["ib0"],
            autoscale={"minCount": 2, "maxCount": 4},
            labels={"a": "b"},
            taints=["a=b:NoSchedule"],
            zones=["1"],
            osSku="Ubuntu",
        ),
        pool(name="own", vmSize="Standard_ND1r", mode="sriov"),
        {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 1, "infiniband": False, "priority": "Spot"},
    ],
    "aks-infiniband:sizes": {
        "Standard_ND1r": {
            "vcpus": 1,
            "memoryGib": 1,
            "series": "X",
            "infiniband": {"hcaCount": 1, "generation": "NDR", "adapter": "ConnectX-7", "rateGbps": 200},
        }
    },
    "aks-infiniband:networkOperator": {
        "chart": {"version": "1"},
        "ipoib": {"range": "192.168.0.0/20", "gateway": "192.168.0.1", "rails": 1, "addressesPerNode": 8},
        "upgrade": {"automatic": False},
    },
    "aks-infiniband:gpuOperator": {"values": {"a": 1}},
    "aks-infiniband:registry": {"images": "mirror.example/x", "charts": "oci://mirror.example/charts"},
    "aks-infiniband:workload": {"namespaces": ["a", "b"]},
    "aks-infiniband:readiness": {"pollSeconds": 1, "stableSeconds": 1, "timeoutSeconds": 100},
    "aks-infiniband:validation": {"mode": "warn", "thresholds": {"rdma-write-bandwidth": {"warn": 380, "fail": 300}}},
}


def with_each_value_replaced(node: Any, by: Any) -> Any:
    """Copies of a document, each with one of its values replaced."""
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        for replacement in (by, *with_each_value_replaced(child, by)):
            copied = node.copy()
            copied[key] = replacement
            yield copied


def test_a_stack_file_that_says_everything_is_right() -> None:
    assert load(EVERYTHING)


@pytest.mark.parametrize("junk", [None, "", "x", 0, -1, 2.5, True, [], ["x"], [None], {}, {"x": 1}], ids=repr)
def test_whatever_stands_in_a_stack_file_the_answer_is_settings_or_mistakes(junk: Any) -> None:
    refused: list[str] = []
    for configuration in with_each_value_replaced(EVERYTHING, junk):
        try:
            load(configuration)
        except SettingsError as error:
            refused += [mistake.key for mistake in error.mistakes]
    assert refused
    assert all(key.startswith(("aks-infiniband:", "azure-native:")) for key in refused)
