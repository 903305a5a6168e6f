"""Every custom resource that the components emit is one that the real definitions know.

In every mode, with every driver source, owner of a GPU driver, size and registry.
"""

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import product
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import DEFAULT_RELEASE, OPERATOR_RELEASES
from aks_infiniband.hosts.dranet import device_class_spec, dranet_spec, rules
from aks_infiniband.hosts.node_preparation import node_preparation
from aks_infiniband.hosts.peermem import peermem
from aks_infiniband.operators.ipoib import ip_pool_spec, ipoib_network_spec, ipoib_networks
from aks_infiniband.operators.network_operator import node_feature_rule_spec
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions
from aks_infiniband.resources.registry import Registry
from aks_infiniband.workload.claims import claim_template_spec
from aks_infiniband.workload.compute_domains import compute_domain_spec
from aks_infiniband.workload.pods import pod_template_fragment
from lightkube.models.apps_v1 import DaemonSetSpec
from lightkube.models.core_v1 import PodSpec
from lightkube.models.rbac_v1 import PolicyRule
from lightkube.models.resource_v1 import DeviceClassSpec, ResourceClaimTemplateSpec

from tests.conformance.facts import NETWORK, assert_accepted, facts
from tests.some_pools import GB300, H100, HBV4, pool

LATER = OperatorOptions(release=OPERATOR_RELEASES["26.7"])
MODES = ("rdma-shared", "sriov", "ipoib", "dra", "driver-only")
KINDS = list(product(MODES, ("doca-ofed", "inbox"), ("operator", "aks", "none")))
OPTIONS = OperatorOptions(
    driver_version="doca9",
    upgrade=DriverUpgrade(automatic=False, drain_timeout_seconds=0),
    registry=Registry(images="acr.example:5000/mirror", pull_secret="creds"),
)


def alone() -> Iterator[list[Pool]]:
    for mode, driver, owner in KINDS:
        yield [pool(mode=mode, nic_driver=driver, gpu_driver=owner)]
    for size in SIZES:
        yield [pool(size)]


def together() -> Iterator[list[Pool]]:
    for (gpu_mode, gpu_driver, _), (hb_mode, hb_driver, _) in product(KINDS[::3], KINDS[::3]):
        yield [
            pool(H100, mode=gpu_mode, nic_driver=gpu_driver, taints=("sku=gpu:NoSchedule",)),
            pool(HBV4, "hb", mode=hb_mode, nic_driver=hb_driver),
        ]


POOLS = [*alone(), *together(), [pool(), pool(GB300, "gb")]]


def test_the_policies_are_ones_that_the_real_definitions_accept() -> None:
    for options in [OperatorOptions(), LATER, OPTIONS]:
        for pools in POOLS:
            specs = nic_policy_specs(pools, options)
            assert_accepted("NicClusterPolicy", specs.cluster)
            for spec in specs.nodes.values():
                assert_accepted("NicNodePolicy", spec)


def test_the_node_feature_rule_is_one_that_the_real_definition_accepts() -> None:
    for size in SIZES:
        assert_accepted("NodeFeatureRule", node_feature_rule_spec([pool(size)]))


def test_an_ipoib_network_and_its_addresses_are_ones_that_the_real_definitions_accept() -> None:
    given = pool(HBV4, mode="ipoib")
    (network,) = ipoib_networks(
        [given], IPv4Network("192.168.0.0/16"), per_node=16, gateway=IPv4Network("192.168.0.0/16")[1]
    )
    assert_accepted("IPPool", ip_pool_spec(network))
    assert_accepted("IPoIBNetwork", ipoib_network_spec(network, namespace="aks-infiniband"))


@pytest.mark.parametrize(
    "spec",
    [
        node_preparation([pool(taints=("a=b:NoSchedule",))], memlock=True).spec(registry=OPTIONS.registry),
        peermem([pool(gpu_driver="aks")]).spec(registry=OPTIONS.registry),
        dranet_spec([pool(mode="dra", taints=("a=b:NoSchedule",))], OPTIONS.registry),
    ],
    ids=["node-preparation", "nvidia-peermem", "dranet"],
)
def test_our_daemon_sets_have_no_field_but_kubernetes_own(spec: Any) -> None:
    """A field that lightkube's models, made of Kubernetes' own definition, do not know is gone after reading."""
    assert DaemonSetSpec.from_dict(spec).to_dict() == spec


def test_claims_and_what_serves_them_have_no_field_but_kubernetes_own() -> None:
    claim, device_class = claim_template_spec(pool(mode="dra")), device_class_spec()
    assert ResourceClaimTemplateSpec.from_dict(claim).to_dict() == claim
    assert DeviceClassSpec.from_dict(device_class).to_dict() == device_class
    assert [PolicyRule.from_dict(rule).to_dict() for rule in rules()] == rules()
    spec = pod_template_fragment(pool(mode="dra"))["spec"]
    assert PodSpec.from_dict(spec).to_dict() == spec


def test_a_compute_domain_is_one_that_the_dra_driver_knows() -> None:
    grace_blackwell = pool(GB300, "gb")
    assert_accepted("ComputeDomain", compute_domain_spec(grace_blackwell))
    spec = pod_template_fragment(grace_blackwell)["spec"]
    assert PodSpec.from_dict(spec).to_dict() == spec


def test_images_are_those_that_the_pinned_network_operator_was_released_with() -> None:
    for image, component in [
        ("doca_driver", "Mofed"),
        ("rdma_shared_device_plugin", "RdmaSharedDevicePlugin"),
        ("sriov_device_plugin", "SriovDevicePlugin"),
        ("cni_plugins", "CniPlugins"),
        ("multus", "Multus"),
        ("ipoib_cni", "Ipoib"),
        ("nv_ipam", "nvIpam"),
        ("doca_telemetry", "docaTelemetryService"),
    ]:
        assert (
            getattr(DEFAULT_RELEASE.parts, image).reference == facts(f"{NETWORK}/components.yaml")["images"][component]
        )
