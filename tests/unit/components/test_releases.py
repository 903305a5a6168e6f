"""A release of NVIDIA's operators: one setting names it, and nothing of another comes with it."""

from typing import Any

import aks_infiniband as rdma
import pytest
from aks_infiniband.facts.releases import DEFAULT_RELEASE, OPERATOR_RELEASES, release_of
from aks_infiniband.stack.load import load
from aks_infiniband.stack.stack import Stack
from aks_infiniband_cli.preflight.chart_images import not_known, of_charts

POOL = {"name": "a100", "vmSize": "Standard_ND96asr_v4", "count": 2}


def stack(**settings: Any) -> Stack:
    said = {"cluster": {"kubernetesVersion": "1.35"}, "pools": [POOL], **settings}
    return load({"azure-native:location": "southcentralus"} | {f"aks-infiniband:{key}": said[key] for key in said})


def test_policies_alone_take_a_release_too() -> None:
    pools = stack().pools
    options = rdma.OperatorOptions(release=rdma.OPERATOR_RELEASES["26.7"])
    assert rdma.nic_policy_specs(pools, options).cluster == stack(release="26.7").policies.cluster


@pytest.mark.parametrize("name", OPERATOR_RELEASES)
def test_a_preflight_knows_every_image_of_a_release(name: str) -> None:
    made = stack(release=name)
    references = dict(of_charts(made))
    assert list(not_known(made)) == []
    release = OPERATOR_RELEASES[made.operators.release.name]
    assert f"nvcr.io/nvidia/gpu-operator:{release.gpu_operator.chart.version}" in references
    assert f"nvcr.io/nvidia/cloud-native/network-operator:v{release.network_operator.chart.version}" in references
    assert all(reference.rpartition(":")[2] not in ("", "None") for reference in references)


def test_a_version_of_no_release_is_told_from_those_that_are() -> None:
    assert release_of("gpu-operator", "26.3.3") is DEFAULT_RELEASE
    assert release_of("gpu-operator", "v26.7.1") is None
    assert release_of("network-operator", None) is None
