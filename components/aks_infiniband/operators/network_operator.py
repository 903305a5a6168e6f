"""NVIDIA Network Operator: its namespace, its release, and the rule that finds Azure's virtual functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.facts.catalog.machine import INFINIBAND_CLASS
from aks_infiniband.facts.pool import Pool, tolerations
from aks_infiniband.facts.releases import DEFAULT_RELEASE, NETWORK_OPERATOR_CHART, Release
from aks_infiniband.operators import charts
from aks_infiniband.operators.release import SYSTEM_POOL, OperatorArgs, install_operator, system_node_affinity
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import SOURCES, Registry

PRESENT: Final = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
"""The label by which the operator knows a node with an NVIDIA network adapter."""
RULE_NAME: Final = "aks-infiniband-nics"

# The chart's terms, for the nodes that AKS has: a list among Helm values replaces the chart's list.
_NFD_WORKER_TOLERATIONS: Final = (
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
)


def node_feature_rule_spec(pools: Sequence[Pool]) -> dict[str, Any]:
    """The spec of the NodeFeatureRule: the label for nodes that carry the virtual functions of the pools' sizes.

    The chart's own rules know physical functions only. Accelerated networking has virtual functions of the same device
    IDs, and the PCI class distinguishes them. A labelled node without InfiniBand that runs another kernel gets a driver
    DaemonSet without a pod, for which the operator waits in vain (v26.4.1, pkg/state/state_ofed.go, state_skel.go).
    """
    devices = sorted({pool.size.infiniband.vf_device_id for pool in pools})
    return {
        "rules": [
            {
                "name": "InfiniBand virtual functions of Azure",
                "labels": dict(PRESENT),
                "matchFeatures": [
                    {
                        "feature": "pci.device",
                        "matchExpressions": {
                            "vendor": {"op": "In", "value": ["15b3"]},
                            "device": {"op": "In", "value": devices},
                            "class": {"op": "In", "value": [INFINIBAND_CLASS]},
                        },
                    }
                ],
            }
        ]
    }


def network_operator_values(
    pools: Sequence[Pool],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    feature_discovery: bool = True,
    system_node_selector: Mapping[str, str] = SYSTEM_POOL,
    registry: Registry = SOURCES,
) -> dict[str, Any]:
    """The chart's Helm values: the values that follow from the pools, and the given ones.

    The chart brings the cluster's only Node Feature Discovery. Its workers label GPUs by vendor alone
    (`pci-10de.present`): with the device in the label, the GPU Operator would find no GPU.

    given: further values. Without a value for the operator's memory, the limit grows with the pools. feature_discovery:
    false if the cluster has a Node Feature Discovery already, such as a GPU Operator's: two would each take away the
    other's labels. system_node_selector: labels of the nodes that carry the operator; empty means any node that is in
    no pool.

    Raises charts.ValuesError for a given value that contradicts what follows from the pools.
    """
    place = (
        {"nodeSelector": dict(system_node_selector)}
        if system_node_selector
        else {"affinity": system_node_affinity({}, pools)}
    )
    discovery = {
        "node-feature-discovery": {
            "worker": {
                "tolerations": [*_NFD_WORKER_TOLERATIONS, *tolerations(pools)],
                "config": {
                    "sources": {"pci": {"deviceClassWhitelist": ["0300", "0302"], "deviceLabelFields": ["vendor"]}}
                },
            }
        },
    }
    values = {
        "nfd": {"enabled": feature_discovery, "deployNodeFeatureRules": False},
        **(discovery if feature_discovery else {}),
        "operator": place,
    }
    given = charts.over({"operator": {"resources": {"limits": {"memory": _memory(pools)}}}}, given)
    derived = charts.over(values, charts.network_operator_images(registry))
    return charts.merge(given, derived, chart=NETWORK_OPERATOR_CHART.name)


def _memory(pools: Sequence[Pool]) -> str:
    """The memory of the operator's controller, unless the given values say it.

    At 140 nodes it used 1 GiB, and the chart's 128 MiB had long run out (edwardsp/azcluster 29c1960, 2026-06-22). Each
    step is for 250 nodes, so that few changes of a pool's count restart the operator.
    """
    return f"{2 * max(1, ceil(sum(pool.node_count for pool in pools) / 250))}Gi"


def _mixed(chart: charts.ChartSource, release: Release) -> str | None:
    """The mixture, if the chart is not of the release whose parts a NicClusterPolicy names; None if there is none.

    A chart that is a path has a version that is not read here.
    """
    pinned, other = release.network_operator.chart.version, (chart.version or "").removeprefix("v")
    if other in ("", pinned):
        return None
    return (
        f"networkOperator.chart.version is {other}; the policies name drivers, plugins and CNIs of {pinned}. NVIDIA "
        "advises against mixing releases. Name a release instead, under aks-infiniband:release, or measure the pools "
        "with `aks-infiniband validate` before work goes there"
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOperatorArgs(OperatorArgs):
    """The arguments of a NetworkOperator."""

    chart: charts.ChartSource = field(default_factory=lambda: charts.chart_source(NETWORK_OPERATOR_CHART))
    """The chart; NVIDIA's by default."""
    release: Release = DEFAULT_RELEASE
    """The release whose parts the policies name: a chart of another causes a warning."""


class NetworkOperator(pulumi.ComponentResource):
    """The operator, ready, and the definitions of its custom resources."""

    namespace: pulumi.Output[str]
    """The operator's namespace."""

    def __init__(self, name: str, *, args: NetworkOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = network_operator_values(args.pools) if args.values is None else args.values
        super().__init__("aks-infiniband:index:NetworkOperator", name, None, opts)
        if mixed := _mixed(args.chart, args.release):
            pulumi.log.warn(mixed, resource=self)
        release = install_operator(
            name, metadata.NETWORK_OPERATOR_NAMESPACE, args, values=values, parent=self, opts=opts
        )
        self.namespace = release.namespace.apply(str)  # the one it was given
        kubernetes.apiextensions.CustomResource(
            f"{name}-nics",
            api_version="nfd.k8s-sigs.io/v1alpha1",
            kind="NodeFeatureRule",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=RULE_NAME, labels=metadata.labels(RULE_NAME, "node-feature-discovery")
            ),
            spec=node_feature_rule_spec(args.pools),
            opts=child_options(self, opts, depends_on=[release]),
        )
        self.register_outputs({"namespace": self.namespace})
