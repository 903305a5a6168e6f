"""NVIDIA's DRA driver for GPUs, for ComputeDomains alone: whole GPUs stay with their device plugin."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.compute_domains import KUBELET_PLUGIN, NAMESPACE, OLDEST_GPU_DRIVER, OPERATOR_DRIVER_ROOT
from aks_infiniband.facts.pool import Pool, node_affinity, tolerations
from aks_infiniband.facts.versions import DRA_DRIVER, DRA_DRIVER_CHART
from aks_infiniband.operators import charts
from aks_infiniband.operators.gpu_operator import driver_owner
from aks_infiniband.operators.release import SYSTEM_POOL, OperatorArgs, install_operator, system_node_affinity
from aks_infiniband.resources.options import timeout_annotation
from aks_infiniband.resources.registry import SOURCES, Registry

_TOLERATED: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""The chart's own."""


def dra_driver_values(
    pools: Sequence[Pool],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    system_node_selector: Mapping[str, str] = SYSTEM_POOL,
    registry: Registry = SOURCES,
) -> dict[str, Any]:
    """The chart's Helm values: those from the pools, and the given ones.

    pools: all pools of the cluster; the driver serves pools with a shared NVLink domain. given: further
    values. system_node_selector: labels of the nodes that carry the controller; empty means any node that is in no
    pool.

    Raises charts.ValuesError for a given value that contradicts what follows from the pools.
    """
    served = [pool for pool in pools if pool.has_compute_domain]
    derived: dict[str, Any] = {
        "nvidiaDriverRoot": OPERATOR_DRIVER_ROOT if driver_owner(served) == "operator" else "/",
        # With both, a pod could get a GPU from the device plugin, and another one the same from a claim.
        "resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": True}},
        "kubeletPlugin": {
            "affinity": {"nodeAffinity": node_affinity(served)},
            "tolerations": [dict(_TOLERATED), *tolerations(served)],
        },
        "controller": {"affinity": system_node_affinity(system_node_selector, pools)},
    }
    if registry.images is not None:
        derived["image"] = {"repository": registry.image(f"{DRA_DRIVER.repository}/{DRA_DRIVER.image}")}
    if registry.pull_secret is not None:
        derived["imagePullSecrets"] = registry.pull_secrets()
    return charts.merge(given, derived, chart=DRA_DRIVER_CHART.name)


@dataclass(frozen=True, kw_only=True)
class DraDriverArgs(OperatorArgs):
    """The arguments of a DraDriver. The timeout is that of the release, and after it that of the nodes' plugins."""

    chart: charts.ChartSource = field(default_factory=lambda: charts.chart_source(DRA_DRIVER_CHART))
    """The chart; NVIDIA's by default."""
    machines: Sequence[pulumi.Input[pulumi.Resource]] = ()
    """Resources after which the pools' machines are there: the plugins of those are waited for."""


class DraDriver(pulumi.ComponentResource):
    """The driver's controller, and its plugin on every node of the pools with an NVLink domain, all ready.

    A plugin waits for the node's GPU driver, and does not start if GPUs are not registered with the NVLink fabric.
    """

    release: kubernetes.helm.v3.Release
    """For depends_on of ComputeDomains: it brings their definition, and its controller has to outlive them."""

    def __init__(self, name: str, *, args: DraDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = dra_driver_values(args.pools) if args.values is None else args.values
        super().__init__("aks-infiniband:index:DraDriver", name, None, opts)
        self.release = install_operator(name, NAMESPACE, args, values=values, parent=self, opts=opts)
        # The chart owns the DaemonSet, and lets Helm call it ready without a single pod (maxUnavailable is 100%). The
        # patch adds only the wait for it.
        served = [pool for pool in args.pools if pool.has_compute_domain]
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=served)
        after = pulumi.ResourceOptions(depends_on=[self.release, *args.machines])
        described: Any = {"name": KUBELET_PLUGIN, "namespace": NAMESPACE, "annotations": timeout_annotation(args)}
        kubernetes.apps.v1.DaemonSetPatch(
            f"{name}-plugins",
            metadata=described,
            opts=pulumi.ResourceOptions.merge(waiting.child_options(f"{name}-plugins", "daemon-set"), after),
        )
        self.register_outputs({})


def check_gpu_driver(pools: Sequence[Pool], values: Mapping[str, Any]) -> None:
    """That a GPU driver which the GPU Operator's values name is new enough for ComputeDomains. Raises ValuesError."""
    driver = values.get("driver", {})
    branch = re.match(r"\d+(?=[.-]|$)", str(driver.get("version", "")))
    served = [pool.name for pool in pools if pool.has_compute_domain]
    if served and driver.get("enabled") and branch and int(branch[0]) < OLDEST_GPU_DRIVER:
        reason = f"is {driver['version']!r}; ComputeDomains of pool {served[0]} need {OLDEST_GPU_DRIVER} or later"
        raise charts.ValuesError(f"driverVersion {reason}", [("driverVersion", reason)])
