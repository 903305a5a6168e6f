"""The operators, policies, networks and DaemonSets of a stack file, before anything is registered."""

from typing import Any

import pytest
from aks_infiniband import SettingsError, Stack, load

from tests.some_pools import H100, HBV4
from tests.unit.components.stack_files import changed
from tests.unit.components.stack_files import pool as pool_of

KUBECONFIG = "kubeconfig"
ND = {"name": "ndh100", "vmSize": H100, "count": 2}
HB = {"name": "hb", "vmSize": HBV4, "count": 2}


def configured(*pools: Any, credentials: str | None = None, **sections: Any) -> Stack:
    given: dict[str, Any] = {"cluster": {"kubernetesVersion": "1.35"}, "pools": list(pools or (ND, HB)), **sections}
    for operator in ("networkOperator", "gpuOperator"):
        given[operator] = {"valuesFile": None, **given.get(operator, {})}
    stack = {f"aks-infiniband:{key}": value for key, value in given.items()}
    return load({"azure-native:location": "southcentralus", **stack}, credentials=credentials)


def test_without_gpus_there_is_nothing_for_a_gpu_operator() -> None:
    assert configured(HB).gpu_operator(KUBECONFIG) is None
    assert configured().gpu_operator(KUBECONFIG) is not None


def test_helm_values_of_the_gpu_operator_are_no_mistake_where_there_is_none() -> None:
    assert configured(HB, gpuOperator={"values": {"driver": {"enabled": False}}})


@pytest.mark.field_report("A4")
def test_mistakes_in_both_operators_values_are_told_together() -> None:
    contrary = {"nfd": {"enabled": False}}
    with pytest.raises(SettingsError) as refused:
        configured(networkOperator={"values": contrary}, gpuOperator={"values": {"toolkit": {"enabled": False}}})
    keys = ["networkOperator.values.nfd.enabled", "gpuOperator.values.toolkit.enabled"]
    reason = "is False; it must be True: leave it out, or out of valuesFile"
    assert [str(mistake) for mistake in refused.value.mistakes] == [f"aks-infiniband:{key} {reason}" for key in keys]


def test_pools_that_differ_get_policies_of_their_own_and_pools_that_agree_none() -> None:
    assert configured().node_policies(KUBECONFIG) == {}
    different = configured(ND, {**HB, "mode": "sriov"}).node_policies(KUBECONFIG)
    assert {name: args.pool_name for name, args in different.items()} == {"ndh100": "ndh100", "hb": "hb"}


def test_nodes_are_prepared_where_asked_for_and_inbox_nodes_always() -> None:
    assert configured().node_preparation(KUBECONFIG) is None
    asked = configured(networkOperator={"nodePreparation": True}).node_preparation(KUBECONFIG)
    assert asked is not None
    assert ([pool.name for pool in asked.pools], asked.memlock) == (["ndh100", "hb"], True)
    inbox = configured(ND, {**HB, "nicDriver": "inbox"}).node_preparation(KUBECONFIG)
    assert inbox is not None
    assert ([pool.name for pool in inbox.pools], inbox.memlock) == (["hb"], False)


@pytest.mark.parametrize("accepted", [True, False])
def test_whether_a_variable_hands_out_gpus_is_the_same_for_the_operator_and_for_aks(*, accepted: bool) -> None:
    given = {"valuesFile": None, "acceptVisibleDevicesEnvvar": accepted}
    by_operator = load(changed(gpuOperator=given)).operators.gpu
    assert by_operator is not None
    assert ("cdi" in by_operator.values) is not accepted
    by_aks = load(changed(gpuOperator=given, pools=[pool_of(gpuDriver="aks")]))
    assert (by_aks.toolkit_hardening(KUBECONFIG) is None) is accepted
