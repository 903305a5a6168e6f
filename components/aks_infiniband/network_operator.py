"""NVIDIA Network Operator: its namespace, its release, and the rule that finds Azure's virtual functions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import charts, diagnosis, metadata, versions
from aks_infiniband._options import child_options
from aks_infiniband.pool import Pool, tolerations

PRESENT: Final = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
"""The label by which the operator knows a node with an NVIDIA network adapter."""
RULE_NAME: Final = "aks-infiniband-nics"
SYSTEM_POOL: Final = {"kubernetes.azure.com/mode": "system"}
"""AKS's label on the nodes of system pools: operators run there, not on the machines they prepare."""

# The chart's own, for what AKS has of them: a list among Helm values takes the place of the chart's.
_NFD_WORKER_TOLERATIONS: Final = (
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
)


def node_feature_rule_spec(pools: Sequence[Pool]) -> dict[str, Any]:
    """The spec of the NodeFeatureRule: the label for nodes that carry the virtual functions of the pools' sizes.

    The chart's own rules know physical functions only.
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
                        },
                    }
                ],
            }
        ]
    }


def network_operator_values(pools: Sequence[Pool]) -> dict[str, Any]:
    """The Helm values that follow from the stack's settings.

    The chart brings the cluster's only Node Feature Discovery. Its workers label GPUs by vendor alone
    (`pci-10de.present`): with the device in the label, the GPU Operator would find no GPU.
    """
    return {
        "nfd": {"enabled": True, "deployNodeFeatureRules": False},
        "node-feature-discovery": {
            "worker": {
                "tolerations": [*_NFD_WORKER_TOLERATIONS, *tolerations(pools)],
                "config": {
                    "sources": {"pci": {"deviceClassWhitelist": ["0300", "0302"], "deviceLabelFields": ["vendor"]}}
                },
            }
        },
        "operator": {"nodeSelector": dict(SYSTEM_POOL)},
    }


@dataclass(frozen=True, kw_only=True)
class NetworkOperatorArgs:
    """What a NetworkOperator takes."""

    pools: Sequence[Pool]
    """The pools whose machines are to be found."""
    timeout_seconds: float
    """How long the release may take to become ready."""
    chart: charts.ChartSource = field(default_factory=lambda: charts.resolve(versions.NETWORK_OPERATOR_CHART))
    """The chart; NVIDIA's by default."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further Helm values. Raises charts.ValuesError for one that contradicts `network_operator_values`."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


class NetworkOperator(pulumi.ComponentResource):
    """The operator, ready, and the definitions of its custom resources."""

    namespace: pulumi.Output[str]
    """The operator's namespace."""

    def __init__(self, name: str, *, args: NetworkOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = charts.merge(args.values, network_operator_values(args.pools), chart=args.chart.name)
        super().__init__("aks-infiniband:index:NetworkOperator", name, None, opts)
        release = charts.install_operator(
            name,
            metadata.NETWORK_OPERATOR_NAMESPACE,
            chart=args.chart,
            values=values,
            timeout_seconds=args.timeout_seconds,
            parent=self,
            opts=opts,
            hooks=diagnosis.on_error(name, waiting_for="release", kubeconfig=args.kubeconfig, pools=args.pools),
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
