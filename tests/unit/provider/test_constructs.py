"""The engine's calls to the provider, and its declarations: the same as the library's own components."""

import json
import math
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from pulumi.errors import InputPropertiesError

from declared.pulumi_mocks import Deploy
from tests.unit.provider.provider_process import construct, declared

POOL = {"name": "h100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2.0, "gpuDriver": "operator"}
"""As the engine hands it over: every number is a float."""
MI300X = {"name": "mi300x", "vmSize": "Standard_ND96isr_MI300X_v5", "count": 2.0, "gpuDriver": "operator"}
NETWORK = {"pools": [POOL], "addresses": "10.9.0.0/16", "namespace": "jobs"}
CLUSTER = {"location": "southcentralus", "clusterName": "c", "resourceGroupName": "g"}
SETTINGS = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"},
    "aks-infiniband:pools": [{"name": "hbv4", "vmSize": "Standard_HB176rs_v4", "count": 4}],
    "aks-infiniband:networkOperator": {"valuesFile": None},
    "aks-infiniband:gpuOperator": {"valuesFile": None},
}


def as_floats(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    return float(value) if isinstance(value, int) else value


def test_rdma_cluster_declares_what_it_declares_in_python(deploy: Deploy) -> None:
    ours = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=load(SETTINGS))).cluster_name)
    theirs = deploy(lambda: construct("RdmaCluster", {"settings": as_floats(SETTINGS)})["clusterName"])
    assert declared(theirs) == declared(ours)


def test_what_settings_leave_out_is_the_stack_files(deploy: Deploy) -> None:
    shared = {key: value for key, value in SETTINGS.items() if key != "aks-infiniband:pools"}
    pools = {"aks-infiniband:pools": SETTINGS["aks-infiniband:pools"]}
    configuration = {key: value if isinstance(value, str) else json.dumps(value) for key, value in shared.items()}

    def program() -> pulumi.Output[str]:
        pulumi.runtime.set_all_config(configuration)
        try:
            name: pulumi.Output[str] = construct("RdmaCluster", {"settings": as_floats(pools)})["clusterName"]
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


@pytest.mark.parametrize(
    ("component", "inputs", "words"),
    [
        ("NetworkOperator", {"pools": [{**POOL, "vmSize": "Standard_D8s_v5"}]}, "vmSize is Standard_D8s_v5; must be"),
        ("NetworkOperator", {"pools": []}, "pools is empty"),
        ("NetworkOperator", {"pools": [{**POOL, "count": 2.5}]}, "count is 2.5; must be a whole number"),
        ("RdmaCluster", {"settings": {"aks-infiniband:pool": []}}, "aks-infiniband:pool "),
        ("NicNodePolicy", {"pools": [POOL], "poolName": "h100"}, "pool h100 needs no NicNodePolicy"),
        (
            "IpoibNetwork",
            {**NETWORK, "network": "fabric"},
            "network is fabric; must be one of those of the pools (none",
        ),
        (
            "AksCluster",
            {**CLUSTER, "settings": {"kubernetesVersion": "1.35", "systemPool": {"count": 0.0}}},
            "settings.systemPool.count is 0; must be greater than or equal to 1",
        ),
        (
            "LightCheck",
            {"pools": [POOL], "schedule": "@daily", "thresholds": {"x": {"fail": -1.0}}},
            "thresholds.x.fail is -1",
        ),
        ("WorkloadGuard", {"namespaces": ["kube-system"]}, "kube-system"),
        ("PoolTopology", {"pool": POOL, "levels": ["kubernetes.io/hostname"]}, "level kubernetes.io/hostname"),
    ],
)
def test_a_mistake_is_told_in_words_and_nothing_is_made(
    deploy: Deploy, component: str, inputs: dict[str, Any], words: str
) -> None:
    deployment = deploy(lambda: refused(component, inputs))
    assert words in deployment.result
    assert deployment.all("kubernetes:helm.sh/v3:Release") == []


def refused(component: str, inputs: dict[str, Any]) -> str:
    with pytest.raises(InputPropertiesError) as error:
        construct(component, inputs)
    return str(error.value)


DEEP: dict[str, Any] = {}
for _ in range(3000):
    DEEP = {"a": DEEP}
CREDENTIALS = {"dockerConfig": "{}"}
AT = {"resourceGroupName": "g", "clusterName": "c"}
KUBERNETES = {"settings": {"kubernetesVersion": "1.35"}}


@pytest.mark.parametrize(
    ("component", "inputs", "words"),
    [
        (
            "IpoibNetwork",
            {**NETWORK, "network": "aks-infiniband", "pools": [{**POOL, "mode": "ipoib"}], "perNode": 0.0},
            "per_node is 0; must be a whole number from 2",
        ),
        ("InfinibandNodePool", {**AT, "pool": POOL, "machines": {"zones": ["9"]}}, "must be an availability zone"),
        (
            "InfinibandNodePool",
            {**AT, "pool": POOL, "tags": {f"t{number}": "" for number in range(60)}},
            "must have at most 50",
        ),
        ("InfinibandNodePool", {**AT, "pool": POOL, "subnetId": "x"}, "must be the resource ID of a subnet"),
        ("InfinibandNodePool", {**AT, "clusterName": "../x", "pool": POOL}, "cluster_name is '../x'"),
        ("AksCluster", {**CLUSTER, **KUBERNETES, "clusterName": "../x"}, "cluster_name is '../x'; must be 1 to 63"),
        ("AksCluster", {**CLUSTER, **KUBERNETES, "location": "Narnia!"}, "location is 'Narnia!'; must be an Azure"),
        (
            "OrdinaryNodePool",
            {**AT, "pool": {"name": "x", "vmSize": "Standard_ND96isr_H100_v5", "count": 2.0}},
            "vm_size is Standard_ND96isr_H100_v5; has InfiniBand",
        ),
        ("NetworkOperator", {"pools": [POOL, POOL]}, "pools[1].name is h100; must be unique"),
        ("NetworkOperator", {"pools": [{**POOL, "name": "Not a pool"}]}, "must be 1 to 12 lower-case letters"),
        ("NetworkOperator", {"pools": [{**POOL, "taints": ["x y"]}]}, "taints[0] is 'x y'; must be a taint"),
        ("NetworkOperator", {"pools": [POOL], "registry": {"images": "https://x"}}, "must be a registry"),
        ("NetworkOperator", {"pools": [POOL], "chart": {"version": "x y"}}, "chart.version is 'x y'"),
        ("NetworkOperator", {"pools": [POOL], "systemNodeSelector": {"x y": ""}}, "must be a Kubernetes label key"),
        ("GpuOperator", {"pools": [POOL], "values": {"dcgm": True}}, "dcgm is True; must be a mapping"),
        (
            "GpuOperator",
            {"pools": [POOL], "values": {"dcgm": {"enabled": "false"}}},
            "dcgm.enabled is 'false'; must be true or false, without quotes",
        ),
        ("DeviceConfig", {"pool": POOL}, "must be a pool with GPUs of AMD"),
        ("DeviceConfig", {"pool": MI300X, "driverImage": "x y"}, "must be a repository of images"),
        ("DeviceConfig", {"pool": MI300X, "deviceConfig": {"drvier": {}}}, "did you mean driver?"),
        ("WorkloadSettings", {"pools": [POOL], "namespaces": ["Not A Namespace"]}, "must be a namespace"),
        ("WorkloadSettings", {"pools": [POOL], "topologies": {"x": ""}}, "topologies: x is not a pool"),
        ("WorkloadGuard", {"namespaces": ["Not A Namespace"]}, "must be a namespace"),
        ("NodePreparation", {"pools": [POOL], "namespace": "Not A Namespace"}, "must be a namespace"),
        ("LightCheck", {"pools": [POOL], "schedule": "17 * * * *", "namespace": "kube-system"}, "Kubernetes' own"),
        ("RegistryCredentials", {**CREDENTIALS, "namespace": "kube-system"}, "Kubernetes' own"),
        ("RegistryCredentials", {**CREDENTIALS, "namespace": "Not A Namespace"}, "must be a namespace"),
    ],
)
def test_what_a_stack_file_is_refused_for_is_refused_in_every_language(
    deploy: Deploy, component: str, inputs: dict[str, Any], words: str
) -> None:
    assert words in deploy(lambda: refused(component, inputs)).result


@pytest.mark.parametrize(
    ("component", "inputs", "place", "words"),
    [
        ("NetworkOperator", {"pools": [{**POOL, "count": math.nan}]}, "pools[0].count", "is nan; must be a finite"),
        ("NetworkOperator", {"pools": [{**POOL, "count": math.inf}]}, "pools[0].count", "is inf; must be a finite"),
        ("NetworkOperator", {"pools": [POOL], "values": DEEP}, "", "is nested more than 64 deep"),
        ("NetworkOperators", {}, "", "NetworkOperators is not a component; did you mean NetworkOperator?"),
        ("NetworkOperator", {"pools": [POOL], "\x1b[31m": 1.0}, "'\\x1b[31m'", "is not known"),
        ("NetworkOperator", {"pools": [{**POOL, "mode": "\x1b[31m"}]}, "pools[0].mode", "is '\\x1b[31m'; "),
    ],
    ids=["NaN", "infinity", "3,000 deep", "no component", "a key with ESC", "a value with ESC"],
)
def test_what_no_reader_takes_is_told_with_its_place_and_no_escapes(
    deploy: Deploy, component: str, inputs: dict[str, Any], place: str, words: str
) -> None:
    ((path, reason),) = [
        (each["property_path"], each["reason"]) for each in deploy(lambda: wrong(component, inputs)).result
    ]
    assert path == place
    assert words in reason
    assert "\x1b" not in path + reason


@pytest.mark.parametrize(
    ("component", "inputs", "place", "words"),
    [
        ("NetworkOperator", {"pools": [{**POOL, "mode": "rdma"}]}, "pools[0].mode", "is 'rdma'; did you mean"),
        ("NetworkOperator", {"pools": [{**POOL, "gpuDirver": "aks"}]}, "pools[0].gpuDirver", "did you mean gpuDriver?"),
        (
            "NetworkOperator",
            {"pools": [{"name": "a", "count": 2.0}]},
            "pools[0].vmSize",
            "is missing; it must be given",
        ),
        ("NetworkOperator", {"pools": POOL}, "pools", "must be a list"),
        ("NetworkOperator", {"pool": [POOL], "pools": [POOL]}, "pool", "is not known; did you mean pools?"),
        ("LightCheck", {"pools": [POOL]}, "schedule", "is missing; it must be given"),
        ("NodePreparation", {"pools": [POOL], "namespace": "s", "memlock": "yes"}, "memlock", "must be true or false"),
        ("WorkloadGuard", {"namespaces": ["jobs", 2.0]}, "namespaces[1]", "is 2.0; must be text"),
        (
            "AksCluster",
            {**CLUSTER, "settings": {"kubernetesVersion": 1.35}},
            "settings.kubernetesVersion",
            "must be text",
        ),
        ("RegistryCredentials", {"namespace": "jobs", "dockerConfig": {}}, "dockerConfig", "is {}; must be text"),
        (
            "Observability",
            {"pools": [POOL], "prometheus": "azure", "timeoutSeconds": True},
            "timeoutSeconds",
            "is True; must be a number",
        ),
    ],
)
def test_an_input_that_the_schema_does_not_have_is_refused_with_its_place(
    component: str, inputs: dict[str, Any], place: str, words: str
) -> None:
    ((path, reason),) = [(each["property_path"], each["reason"]) for each in wrong(component, inputs)]
    assert path == place
    assert words in reason


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
