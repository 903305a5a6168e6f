"""NVIDIA GPU Operator, owning the driver, with GPUDirect RDMA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import charts, diagnosis, metadata, versions
from aks_infiniband._options import child_options, wait_annotations
from aks_infiniband.network_operator import SYSTEM_POOL
from aks_infiniband.pool import Pool, tolerations

CLUSTER_POLICY_NAME: Final = "cluster-policy"
"""Name of the ClusterPolicy that the chart creates."""


def has_nvidia_gpus(pool: Pool) -> bool:
    """Whether the pool's machines are the GPU Operator's business."""
    return pool.size.accelerator is not None and pool.size.accelerator.vendor == "nvidia"


def gpu_operator_values(pools: Sequence[Pool]) -> dict[str, Any]:
    """The Helm values that follow from the stack's settings: the operator owns driver and toolkit.

    pools: those with NVIDIA GPUs.
    """
    return {
        # The Network Operator's chart brings the cluster's only Node Feature Discovery.
        "nfd": {"enabled": False},
        # OFED is the Network Operator's container, not the host's, so nvidia-peermem builds against that.
        "driver": {"enabled": True, "rdma": {"enabled": True, "useHostMofed": False}},
        # AKS with containerd 2: reading the running configuration, the toolkit writes a drop-in of a version that
        # containerd does not take, and the node goes NotReady (GPU Operator issue 2646).
        "toolkit": {"enabled": True, "env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
        "daemonsets": {
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                *tolerations(pools),
            ]
        },
        # Whole GPUs in containers: no MIG, no vGPU, no passthrough to virtual machines.
        "migManager": {"enabled": False},
        "sandboxWorkloads": {"enabled": False},
        "sandboxDevicePlugin": {"enabled": False},
        "vgpuManager": {"enabled": False},
        "vgpuDeviceManager": {"enabled": False},
        "vfioManager": {"enabled": False},
        "operator": {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": key, "operator": "In", "values": [value]}
                                    for key, value in SYSTEM_POOL.items()
                                ]
                            }
                        ]
                    }
                }
            }
        },
    }


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs:
    """What a GpuOperator takes."""

    pools: Sequence[Pool]
    """The pools with NVIDIA GPUs; their gpuProfile.driver must be None, or two owners break the node."""
    timeout_seconds: float
    """How long the release, and after it the ClusterPolicy, may take to become ready. Nodes need not exist yet."""
    chart: charts.ChartSource = field(default_factory=lambda: charts.resolve(versions.GPU_OPERATOR_CHART))
    """The chart; NVIDIA's by default."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further Helm values. Raises charts.ValuesError for one that contradicts `gpu_operator_values`."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


class GpuOperator(pulumi.ComponentResource):
    """The operator and its ClusterPolicy, both ready."""

    namespace: pulumi.Output[str]
    """The operator's namespace."""
    state: pulumi.Output[str]
    """`.status.state` of the ClusterPolicy: ready."""

    def __init__(self, name: str, *, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = charts.merge(args.values, gpu_operator_values(args.pools), chart=args.chart.name)
        super().__init__("aks-infiniband:index:GpuOperator", name, None, opts)
        release = charts.install_operator(
            name,
            metadata.GPU_OPERATOR_NAMESPACE,
            chart=args.chart,
            values=values,
            timeout_seconds=args.timeout_seconds,
            parent=self,
            opts=opts,
            hooks=diagnosis.on_error(name, waiting_for="release", kubeconfig=args.kubeconfig, pools=args.pools),
        )
        self.namespace = release.namespace.apply(str)  # the one it was given
        # The chart owns the ClusterPolicy; the patch adds nothing but the wait for it.
        policy = kubernetes.apiextensions.CustomResourcePatch(
            f"{name}-policy",
            api_version="nvidia.com/v1",
            kind="ClusterPolicy",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=CLUSTER_POLICY_NAME,
                annotations=wait_annotations("jsonpath={.status.state}=ready", args.timeout_seconds),
            ),
            opts=child_options(
                self,
                opts,
                depends_on=[release],
                hooks=diagnosis.on_error(
                    f"{name}-policy", waiting_for="cluster-policy", kubeconfig=args.kubeconfig, pools=args.pools
                ),
            ),
        )
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"namespace": self.namespace, "state": self.state})
