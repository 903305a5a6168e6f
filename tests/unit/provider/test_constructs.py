"""The engine's calls to the provider, and its declarations: the same as the library's own components."""

import json
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from pulumi.errors import InputPropertiesError

from declared.pulumi_mocks import Deploy
from tests.unit.provider.cases import as_the_engine
from tests.unit.provider.provider_process import construct, declared

POOL = {"name": "h100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2.0, "gpuDriver": "operator"}
"""As the engine hands it over: every number is a float."""
SETTINGS = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"},
    "aks-infiniband:pools": [{"name": "hbv4", "vmSize": "Standard_HB176rs_v4", "count": 4}],
    "aks-infiniband:networkOperator": {"valuesFile": None},
    "aks-infiniband:gpuOperator": {"valuesFile": None},
}


def test_rdma_cluster_declares_what_it_declares_in_python(deploy: Deploy) -> None:
    ours = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=load(SETTINGS))).cluster_name)
    theirs = deploy(lambda: construct("RdmaCluster", {"settings": as_the_engine(SETTINGS)})["clusterName"])
    assert declared(theirs) == declared(ours)


def test_what_settings_leave_out_is_the_stack_files(deploy: Deploy) -> None:
    shared = {key: value for key, value in SETTINGS.items() if key != "aks-infiniband:pools"}
    pools = {"aks-infiniband:pools": SETTINGS["aks-infiniband:pools"]}
    configuration = {key: value if isinstance(value, str) else json.dumps(value) for key, value in shared.items()}

    def program() -> pulumi.Output[str]:
        pulumi.runtime.set_all_config(configuration)
        try:
            name: pulumi.Output[str] = construct("RdmaCluster", {"settings": as_the_engine(pools)})["clusterName"]
            return name
        finally:
            pulumi.runtime.set_all_config({})

    ours = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=load(SETTINGS))).cluster_name)
    assert declared(deploy(program)) == declared(ours)


def test_where_the_pool_goes_may_come_from_another_resource(deploy: Deploy) -> None:
    place = pulumi.Output.from_input
    deployment = deploy(
        lambda: construct(
            "InfinibandNodePool", {"pool": POOL, "resourceGroupName": place("hpc"), "clusterName": place("lab")}
        )["ready"]
    )
    made = deployment.one("azure-native:containerservice:AgentPool").inputs
    assert (made["resourceGroupName"], made["resourceName"], made["count"]) == ("hpc", "lab", 2)
    assert isinstance(deployment.result, str)


def test_values_that_are_nested_without_end_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(3000):
        deep = {"a": deep}
    (mistake,) = wrong("NetworkOperator", {"pools": [POOL], "values": deep})
    assert "is nested more than 64 deep" in mistake["reason"]


def test_an_input_that_decides_what_is_made_must_be_known_at_once(deploy: Deploy) -> None:
    told = deploy(lambda: wrong("NetworkOperator", {"pools": [{**POOL, "name": pulumi.Output.from_input("h100")}]}))
    reason = "comes from another resource, or is a secret; must be written in the program"
    assert told.result == [{"property_path": "pools", "reason": reason}]


def test_an_input_that_is_null_is_left_out(deploy: Deploy) -> None:
    inputs = {"pools": [{**POOL, "mode": None}], "chart": None, "kubeconfig": None}
    made = deploy(lambda: construct("NetworkOperator", inputs)["namespace"])
    assert made.result == "network-operator"


def wrong(component: str, inputs: dict[str, Any]) -> list[Any]:
    with pytest.raises(InputPropertiesError) as error:
        construct(component, inputs)
    return list(error.value.errors or [])
