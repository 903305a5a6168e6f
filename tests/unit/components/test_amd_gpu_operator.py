"""AMD's GPU Operator: its Helm values, the DeviceConfig of a pool, and its place next to NVIDIA's."""

import re
from typing import Any

import pytest
from aks_infiniband import GpuOperatorArgs, load
from aks_infiniband.facts.amd import DRIVER_VERSION
from aks_infiniband.operators.amd_gpu_operator import (
    AmdGpuOperator,
    AmdGpuOperatorArgs,
    AmdOptions,
    amd_gpu_operator_values,
)
from aks_infiniband.operators.cert_manager import cert_manager_values
from aks_infiniband.operators.charts import ValuesError
from aks_infiniband.operators.device_config import DeviceConfig, DeviceConfigArgs, device_config_spec
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions
from aks_infiniband.resources.registry import Registry

from declared.pulumi_mocks import Deploy
from tests.some_pools import MI300X, pool

IMAGE = "myregistry.azurecr.io/amd/amdgpu-kmod"
BUILT = pool(MI300X, "ndmi300x", gpu_driver="operator")
THERE = pool(MI300X, "ndmi300x", gpu_driver="image")


def test_the_chart_brings_no_second_feature_discovery_and_no_device_config_of_its_own() -> None:
    values = amd_gpu_operator_values([THERE])
    assert values["node-feature-discovery"] == {"enabled": False}
    assert values["installdefaultNFDRule"] is True, "the rule that finds the GPUs is the chart's"
    assert values["crds"] == {"defaultCR": {"install": False, "upgrade": False}}


@pytest.mark.parametrize(("pools", "kmm"), [([THERE], False), ([BUILT], True), ([THERE, BUILT], True)])
def test_kernel_module_management_comes_only_where_the_operator_builds_a_driver(pools: Any, kmm: bool) -> None:
    values = amd_gpu_operator_values(pools)["kmm"]
    assert (values["enabled"], values["watch"]) == (kmm, kmm)
    assert ("controller" in values) == kmm


def test_no_image_of_the_operands_or_of_kernel_module_management_is_called_latest() -> None:
    assert "latest" not in str(amd_gpu_operator_values([BUILT]))
    assert "latest" not in str(device_config_spec(BUILT, AmdOptions(driver_image=IMAGE)))


def test_remediation_and_argos_definitions_come_only_where_they_are_asked_for() -> None:
    assert amd_gpu_operator_values([THERE])["remediation"] == {"enabled": False, "installCRDs": False}
    asked = amd_gpu_operator_values([THERE], options=AmdOptions(remediation=True))
    assert asked["remediation"] == {"enabled": True, "installCRDs": True}


def test_values_that_contradict_what_follows_from_the_pools_are_refused_by_name() -> None:
    with pytest.raises(ValuesError, match=r"node-feature-discovery\.enabled is True; it must be False"):
        amd_gpu_operator_values([THERE], given={"node-feature-discovery": {"enabled": True}})
    with pytest.raises(ValuesError, match=r"upgradeCRD is False"):
        amd_gpu_operator_values([THERE], given={"upgradeCRD": False})


def test_a_registry_of_ones_own_has_the_images_of_operator_and_operands() -> None:
    options = AmdOptions(operator=OperatorOptions(registry=Registry(images="mirror.azurecr.io", pull_secret="login")))
    values = amd_gpu_operator_values([BUILT], options=options)
    assert values["controllerManager"]["manager"]["image"]["repository"] == "mirror.azurecr.io/rocm/amd-gpu-operator"
    assert values["global"] == {"imagePullSecrets": [{"name": "login"}]}
    spec = device_config_spec(BUILT, options)
    assert spec["devicePlugin"]["devicePluginImage"].startswith("mirror.azurecr.io/rocm/k8s-device-plugin:")
    assert spec["commonConfig"]["initContainerImage"] == "mirror.azurecr.io/library/busybox:1.36"
    assert spec["commonConfig"]["imageRegistrySecrets"] == [{"name": "login"}]
    assert spec["driver"]["imageRegistrySecret"] == {"name": "login"}


def test_a_device_config_selects_the_virtual_functions_of_its_own_pool() -> None:
    assert device_config_spec(THERE)["selector"] == {
        "feature.node.kubernetes.io/amd-vgpu": "true",
        "kubernetes.azure.com/agentpool": "ndmi300x",
    }


def test_where_the_node_image_has_the_driver_the_operator_is_told_to_install_none() -> None:
    assert device_config_spec(THERE)["driver"] == {"enable": False, "blacklist": False}


def test_where_the_operator_owns_the_driver_it_builds_it_keeps_the_kernels_own_out_and_upgrades_one_by_one() -> None:
    options = AmdOptions(operator=OperatorOptions(upgrade=DriverUpgrade(drain_timeout_seconds=60)), driver_image=IMAGE)
    driver = device_config_spec(BUILT, options)["driver"]
    assert (driver["enable"], driver["blacklist"], driver["image"]) == (True, True, IMAGE)
    assert driver["version"] == DRIVER_VERSION
    assert driver["upgradePolicy"]["maxParallelUpgrades"] == 1
    assert driver["upgradePolicy"]["nodeDrainPolicy"]["timeoutSeconds"] == 60


def test_every_operand_tolerates_the_pools_taints() -> None:
    tainted = pool(MI300X, "ndmi300x", ("sku=gpu:NoSchedule",), gpu_driver="operator")
    spec = device_config_spec(tainted, AmdOptions(driver_image=IMAGE))
    wanted = [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]
    plugin = spec["devicePlugin"]
    assert plugin["devicePluginTolerations"] == plugin["nodeLabellerTolerations"] == wanted
    assert spec["metricsExporter"]["tolerations"] == spec["driver"]["tolerations"] == wanted


def test_further_fields_of_a_device_config_stay_and_contradictions_are_refused() -> None:
    more = {"testRunner": {"enable": True}, "metricsExporter": {"podAnnotations": {"a": "b"}}}
    spec = device_config_spec(THERE, AmdOptions(device_config=more))
    assert spec["testRunner"] == {"enable": True}
    assert spec["metricsExporter"]["podAnnotations"] == {"a": "b"}
    with pytest.raises(ValuesError, match=r"devicePlugin\.enableDevicePlugin is False; it must be True"):
        device_config_spec(THERE, AmdOptions(device_config={"devicePlugin": {"enableDevicePlugin": False}}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"drvier": {}}, "drvier is not known; did you mean driver? fields are commonConfig"),
        ({"selector": {"a": "b"}}, "selector is {'a': 'b'}; it follows from the pool"),
    ],
)
def test_a_field_that_a_device_config_does_not_have_and_a_selector_are_refused(
    given: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValuesError, match=re.escape(told)):
        device_config_spec(THERE, AmdOptions(device_config=given))


def test_nvidias_operator_takes_no_pool_of_amds_and_amds_none_of_nvidias() -> None:
    nvidia = pool(name="ndh100", taints=("sku=a:NoSchedule",))
    amd = pool(MI300X, "ndmi300x", ("sku=b:NoSchedule",), gpu_driver="image")
    told = gpu_operator_values([nvidia, amd])["daemonsets"]["tolerations"]
    assert {"key": "sku", "operator": "Equal", "value": "b", "effect": "NoSchedule"} not in told
    with pytest.raises(ValuesError, match="no pool has GPUs"):
        gpu_operator_values([amd])


def test_cert_manager_brings_its_definitions_and_stays_off_the_pools() -> None:
    values = cert_manager_values([BUILT], registry=Registry(images="mirror.azurecr.io"))
    assert values["crds"] == {"enabled": True}
    assert values["webhook"]["image"]["repository"] == "mirror.azurecr.io/jetstack/cert-manager-webhook"
    for part in (values, values["webhook"], values["cainjector"]):
        assert "nodeAffinity" in part["affinity"]


def test_the_device_config_is_waited_for_until_the_operator_says_ready(deploy: Deploy) -> None:
    def program() -> None:
        AmdGpuOperator("amd", args=AmdGpuOperatorArgs(pools=[THERE]))
        DeviceConfig("config", args=DeviceConfigArgs(pool=THERE, timeout_seconds=60))

    declared = deploy(program)
    config = declared.one("kubernetes:amd.com/v1alpha1:DeviceConfig")
    annotations = config.inputs["metadata"]["annotations"]
    assert {"pulumi.com/waitFor": "condition=Ready", "pulumi.com/timeoutSeconds": "60"}.items() <= annotations.items()
    assert config.inputs["metadata"]["namespace"] == "kube-amd-gpu"
    release = declared.one("kubernetes:helm.sh/v3:Release")
    assert (release.inputs["name"], release.inputs["version"]) == ("amd-gpu-operator", "v1.5.1")


def test_one_stack_has_both_vendors_operators_each_for_its_own_pools() -> None:
    stack = load(
        {
            "azure-native:location": "southcentralus",
            "aks-infiniband:cluster": {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"},
            "aks-infiniband:pools": [
                {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2},
                {"name": "ndmi300x", "vmSize": MI300X, "count": 2, "gpuDriver": "operator"},
            ],
            "aks-infiniband:amdGpuOperator": {"driverImage": IMAGE},
        }
    )
    assert isinstance(stack.gpu_operator(""), GpuOperatorArgs)
    assert stack.amd_gpu_operator("") is not None
    assert list(stack.device_configs("")) == ["ndmi300x"]
    assert stack.cert_manager("") is not None, "Kernel Module Management needs it, and a new cluster has none"
