"""When an earlier validation says nothing any more, and when it still does."""

from typing import Any

import pytest
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.stack.operators import configure
from aks_infiniband.stack.plan import pools_of
from aks_infiniband.stack.revalidation import revalidate_when, validation_options, waits
from aks_infiniband.stack.settings import Readiness, ValidationSettings, load
from aks_infiniband.stack.settings.operators import ThresholdSettings
from aks_infiniband.validation import Waits

from tests.some_pools import H100, HBV4

ND = {"name": "nd", "vmSize": H100, "count": 2}
HB = {"name": "hb", "vmSize": HBV4, "count": 2, "mode": "ipoib", "taints": ["sku=hpc:NoSchedule"]}


def facts(of: str, *pools: Any, **sections: Any) -> Any:
    """Of one pool of a stack."""
    given: dict[str, Any] = {"cluster": {"kubernetesVersion": "1.35"}, **sections}
    for operator in ("networkOperator", "gpuOperator"):
        given[operator] = {"valuesFile": None, **given.get(operator, {})}
    given["pools"] = list(pools or (ND, HB))
    whole = {f"aks-infiniband:{key}": value for key, value in given.items()}
    settings = load({"azure-native:location": "southcentralus", **whole})
    plain = pools_of(settings)
    return revalidate_when(configure(settings, plain), next(pool for pool in plain if pool.name == of))


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


@pytest.mark.parametrize("change", [{"mode": "sriov"}, {"osSku": "Ubuntu2404"}, {"zones": ["1"]}])
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
    checks = ValidationSettings(mode="warn", tries=2, thresholds={"all-reduce": ThresholdSettings(warn=300.0)})
    options = validation_options(checks)
    assert {name: getattr(options, name) for name in ("mode", "image", "timeout_seconds", "tries", "sweep")} == {
        "mode": "warn",
        "image": None,
        "timeout_seconds": 1800,
        "tries": 2,
        "sweep": "short",
    }
    assert options.thresholds == {"all-reduce": GivenThreshold(warn=300.0)}
    assert waits(Readiness(poll_seconds=1, stable_seconds=2, timeout_seconds=3)) == Waits(
        poll_seconds=1, stable_seconds=2, timeout_seconds=3
    )
