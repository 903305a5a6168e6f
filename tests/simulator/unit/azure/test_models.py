"""Inputs are checked against azure-native's argument classes, which are those of the API version that is sent."""

from typing import Any

import pytest
from pulumi_azure_native import containerservice, network

from rehearsal.azure.models import check_arguments
from rehearsal.azure.wire import UNKNOWN

POOL: dict[str, Any] = {
    "resourceGroupName": "rg",
    "resourceName": "aks",
    "agentPoolName": "p",
    "vmSize": "x",
    "count": 1,
}


def pool_failures(**changes: Any) -> list[str]:
    inputs = {**POOL, **changes}
    return [failure.reason for failure in check_arguments(containerservice.AgentPoolArgs, inputs)]


def test_a_sound_pool_has_no_failures() -> None:
    assert (
        pool_failures(
            gpuProfile={"driver": "None"},
            nodeLabels={"a": "b"},
            nodeTaints=["a:NoSchedule"],
            osSKU="Ubuntu2404",
            upgradeSettings={"maxSurge": "33%"},
            spotMaxPrice=1.5,
            count=UNKNOWN,
        )
        == []
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"vmSise": "x"}, "unknown property 'vmSise' (value 'x'); did you mean 'vmSize'?"),
        (
            {"gpuProfile": {"drivr": "None"}},
            "unknown property 'gpuProfile.drivr' (value 'None'); did you mean 'driver'?",
        ),
        ({"count": "two"}, "'count' should be an integer but is 'two'"),
        ({"count": True}, "'count' should be an integer but is True"),
        ({"count": 1.5}, "'count' should be an integer but is 1.5"),
        ({"nodeLabels": ["a"]}, "'nodeLabels' should be an object but is ['a']"),
        ({"nodeTaints": "a"}, "'nodeTaints' should be a list but is 'a'"),
        ({"nodeTaints": [1]}, "'nodeTaints[0]' should be a string but is 1"),
        ({"enableAutoScaling": "yes"}, "'enableAutoScaling' should be true or false but is 'yes'"),
    ],
)
def test_a_wrong_property_is_named_with_its_value(changes: dict[str, Any], words: str) -> None:
    assert words in pool_failures(**changes)


@pytest.mark.parametrize(
    ("key", "value", "known"),
    [
        ("mode", "system", "'System'"),
        ("type", "VirtualMachineScaleSet", "'VirtualMachineScaleSets'"),
        ("localDNSProfile", {"mode": "preferred"}, "'Preferred'"),
        ("gpuProfile", {"driver": "Nvidia"}, "'Install', 'None'"),
    ],
)
def test_a_value_outside_an_enumeration_is_named_with_those_inside(key: str, value: Any, known: str) -> None:
    [reason] = pool_failures(**{key: value})
    assert "it must be one of" in reason
    assert known in reason


@pytest.mark.parametrize(
    ("key", "value"),
    [("gpuProfile", {"driver": "None", "nvidia": {"managementMode": "Managed"}}), ("upgradeStrategy", "BlueGreen")],
)
def test_what_only_a_later_api_version_has_is_unknown(key: str, value: Any) -> None:
    [reason] = pool_failures(**{key: value})
    assert "unknown property" in reason


def test_a_value_that_only_a_later_api_version_has_is_refused() -> None:
    profile = {"networkPlugin": "azure", "transitEncryption": {"type": "WireGuard"}}
    inputs = {"resourceGroupName": "rg", "networkProfile": profile}
    [failure] = check_arguments(containerservice.ManagedClusterArgs, inputs)
    assert failure.path == "networkProfile.transitEncryption"


def test_an_os_sku_is_left_to_aks_whose_words_are_recorded() -> None:
    assert pool_failures(osSKU="Ubuntu2604") == []


def test_what_is_missing_is_named() -> None:
    failures = check_arguments(containerservice.AgentPoolArgs, {"resourceGroupName": "rg"})
    assert [failure.reason for failure in failures] == ["missing required property 'resourceName'"]


def test_a_clusters_nested_profiles_are_checked_too() -> None:
    inputs = {
        "resourceGroupName": "rg",
        "identity": {"type": "UserAssigned", "userAssignedIdentities": ["/subscriptions/x"]},
        "agentPoolProfiles": [{"name": "system", "mode": "Systm"}],
    }
    [failure] = check_arguments(containerservice.ManagedClusterArgs, inputs)
    assert failure.path == "agentPoolProfiles[0].mode"


def test_other_types_are_held_to_azure_natives_enumerations() -> None:
    inputs = {"resourceGroupName": "rg", "virtualNetworkName": "n", "privateEndpointNetworkPolicies": "Off"}
    [failure] = check_arguments(network.SubnetInitArgs, inputs)
    assert "'Off'; it must be one of" in failure.reason
