"""Our values for AMD's GPU Operator fit its chart and its definition."""

from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband.operators.amd_gpu_operator import AmdOptions, amd_gpu_operator_values
from aks_infiniband.operators.device_config import device_config_spec
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.registry import Registry

from tests.conformance.facts import AMD, assert_accepted, chart_values, misfits
from tests.some_pools import HBV4, MI300X, pool

MIRROR = Registry(images="acr.example/mirror", pull_secret="creds")
OPTIONS = AmdOptions(operator=OperatorOptions(driver_version="30.20.1"), driver_image="acr.example/amdgpu")
REGISTRIES = pytest.mark.parametrize("registry", [Registry(), MIRROR], ids=["sources", "registry"])
OWNERS = pytest.mark.parametrize("owner", ["operator", "image"])


def options(registry: Registry) -> AmdOptions:
    return replace(OPTIONS, operator=replace(OPTIONS.operator, registry=registry), remediation=True)


@REGISTRIES
@OWNERS
@pytest.mark.parametrize("selector", [{}, {"role": "system"}], ids=["anywhere", "labelled"])
def test_every_value_of_amds_gpu_operator_is_one_of_the_real_chart(owner: Any, selector: Any, registry: Any) -> None:
    pools = [pool(MI300X, "nda", gpu_driver=owner), pool(HBV4, "hb")]
    values = amd_gpu_operator_values(pools, options=options(registry), system_node_selector=selector)
    given_by_helm = {"global"}
    assert {path: why for path, why in misfits(values, AMD).items() if path not in given_by_helm} == {}


@REGISTRIES
@OWNERS
@pytest.mark.parametrize("taints", [(), ("sku=gpu:NoSchedule",)], ids=["free", "tainted"])
def test_a_device_config_is_one_that_the_real_definition_takes(owner: Any, taints: Any, registry: Any) -> None:
    spec = device_config_spec(pool(MI300X, "nda", taints, gpu_driver=owner), options(registry))
    assert_accepted("DeviceConfig", spec)


def test_a_field_that_the_real_definition_lacks_would_be_found() -> None:
    spec = device_config_spec(pool(MI300X, "nda", gpu_driver="image"), OPTIONS)
    with pytest.raises(AssertionError, match="enabled"):
        assert_accepted("DeviceConfig", {**spec, "driver": {"enabled": False}})


def test_the_real_chart_would_bring_another_feature_discovery_and_a_device_config_for_all_nodes() -> None:
    real = chart_values(AMD)
    assert real["node-feature-discovery"]["enabled"] is True
    assert real["crds"]["defaultCR"]["install"] is True
