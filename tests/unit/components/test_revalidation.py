"""When an earlier validation says nothing any more, and when it still does."""

from typing import Any

import pytest
from aks_infiniband import Stack, ValidationOptions, Waits, load
from aks_infiniband.facts.baselines import GivenThreshold

from tests.some_pools import H100, HBV4, MI300X

ND = {"name": "nd", "vmSize": H100, "count": 2}
HB = {"name": "hb", "vmSize": HBV4, "count": 2, "mode": "ipoib", "taints": ["sku=hpc:NoSchedule"]}


def stack_of(*pools: Any, **sections: Any) -> Stack:
    given: dict[str, Any] = {"cluster": {"kubernetesVersion": "1.35"}, **sections}
    for operator in ("networkOperator", "gpuOperator"):
        given[operator] = {"valuesFile": None, **given.get(operator, {})}
    given["pools"] = list(pools or (ND, HB))
    whole = {f"aks-infiniband:{key}": value for key, value in given.items()}
    return load({"azure-native:location": "southcentralus", **whole})


def facts(of: str, *pools: Any, **sections: Any) -> Any:
    """Facts of one pool of a stack."""
    return stack_of(*pools, **sections).revalidate_when[of]


@pytest.mark.field_report("A5")
@pytest.mark.parametrize(
    "change",
    [
        {"networkOperator": {"driverVersion": "doca9"}},
        {"gpuOperator": {"driverVersion": "580.1"}},
        {"networkOperator": {"nodePreparation": True}},
        {"networkOperator": {"chart": {"version": "26.7.0"}}},
        {"cluster": {"kubernetesVersion": "1.36"}},
    ],
)
def test_a_change_of_driver_operator_or_kubernetes_makes_it_say_nothing(change: Any) -> None:
    assert facts("nd", **change) != facts("nd")


@pytest.mark.parametrize(
    "change",
    [
        {"driverVersion": "30.20.2"},
        {"driverImage": "another.azurecr.io/amd/amdgpu-kmod"},
        {"deviceConfig": {"metricsExporter": {"enable": True}}},
        {"chart": {"version": "v1.4.0"}},
    ],
)
def test_a_change_of_amds_driver_or_operator_makes_it_say_nothing(change: Any) -> None:
    given = {"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"}
    pool = {"name": "nda", "vmSize": MI300X, "count": 2, "gpuDriver": "operator"}
    assert facts("nda", pool, amdGpuOperator={**given, **change}) != facts("nda", pool, amdGpuOperator=given)


@pytest.mark.parametrize("change", [{"mode": "sriov"}, {"osSku": "Ubuntu2204"}, {"zones": ["1"]}])
def test_other_machines_or_another_mode_make_it_say_nothing(change: Any) -> None:
    assert facts("nd", {**ND, **change}) != facts("nd", ND)


@pytest.mark.parametrize("change", [{"labels": {"a": "b"}}, {"autoscale": {"minCount": 2, "maxCount": 9}}])
def test_what_leaves_the_machines_as_they_are_leaves_it_valid(change: Any) -> None:
    assert facts("nd", {**ND, **change}) == facts("nd", ND)


def test_it_says_something_still_when_another_pool_comes_or_changes() -> None:
    assert facts("nd", ND, HB) == facts("nd", ND)
    assert facts("hb", {**ND, "gpuDriver": "aks"}, HB) == facts("hb", ND, HB)
    assert facts("hb", gpuOperator={"driverVersion": "580.1"}) == facts("hb")


def test_a_driver_that_moves_to_a_policy_of_its_pools_own_is_validated_again() -> None:
    inbox = {"name": "hx", "vmSize": "Standard_HX176rs", "count": 2, "nicDriver": "inbox"}
    assert facts("nd", ND, inbox) != facts("nd", ND)


def test_other_addresses_concern_the_pools_that_have_them() -> None:
    moved = {"networkOperator": {"ipoib": {"range": "192.168.64.0/20"}}}
    assert facts("hb", **moved) != facts("hb")
    assert facts("nd", **moved) == facts("nd")


def test_what_the_stack_file_says_of_checks_and_waits_reaches_the_validation() -> None:
    checks = {"mode": "warn", "tries": 2, "thresholds": {"all-reduce": {"warn": 300}}}
    readiness = {"pollSeconds": 1, "stableSeconds": 2, "timeoutSeconds": 3}
    (pool,) = (stack := stack_of(ND, validation=checks, readiness=readiness)).pools
    args = stack.validation_of(pool, "kubeconfig")
    bounds = {"all-reduce": GivenThreshold(warn=300)}
    assert args.options == ValidationOptions(mode="warn", tries=2, thresholds=bounds)
    assert args.waits == Waits(poll_seconds=1, stable_seconds=2, timeout_seconds=3)
