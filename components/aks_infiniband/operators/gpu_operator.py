"""NVIDIA GPU Operator: it offers GPUs to pods, and owns their driver unless AKS does."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import versions
from aks_infiniband.facts.catalog.machine import GpuDevicePlugin, GpuDriver
from aks_infiniband.facts.pool import Pool, tolerations
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART
from aks_infiniband.operators import charts
from aks_infiniband.operators.container_toolkit import check_strategy, toolkit_values
from aks_infiniband.operators.driver_turns import DriverTurns
from aks_infiniband.operators.release import (
    DEFAULTS,
    SYSTEM_POOL,
    OperatorArgs,
    OperatorOptions,
    install_operator,
    system_node_affinity,
)
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import wait_annotations

CLUSTER_POLICY_NAME: Final = "cluster-policy"
"""Name of the ClusterPolicy that the chart creates."""
AKS_RUNTIME_CLASS: Final = "nvidia-container-runtime"
"""Its name on AKS's node images, if AKS owns the driver (aicr PR 1680)."""


def is_gpu_pool(pool: Pool) -> bool:
    """True if NVIDIA's GPU Operator manages the pool's GPUs; never on machines without NVIDIA GPUs."""
    gpus = pool.size.accelerator
    return gpus is not None and gpus.vendor == "nvidia" and pool.gpu_driver != "none"


def driver_owner(pools: Sequence[Pool]) -> GpuDriver:
    """Owner of the driver of these pools' GPUs, and with it of container toolkit and runtime class.

    A release sets all three for all nodes at once, and two owners' drivers on one node break it (field reports, A4).

    Raises charts.ValuesError for none, or more than one.
    """
    owners = sorted({pool.gpu_driver for pool in pools if is_gpu_pool(pool)})
    if len(owners) == 1:
        return owners[0]
    choices = ", ".join(f"{pool.name}: {pool.gpu_driver}" for pool in pools)
    reason = "GPUs have two driver owners" if owners else "no pool has GPUs whose driver the operator or AKS owns"
    raise charts.ValuesError(f"{reason}, and the GPU Operator takes exactly one ({choices})")


def device_plugin_owner(pools: Sequence[Pool]) -> GpuDevicePlugin:
    """Owner of the device plugin of these pools' GPUs. A release sets it for all nodes at once.

    Raises charts.ValuesError for more than one.
    """
    owners = {pool.gpu_device_plugin for pool in pools if is_gpu_pool(pool)}
    if len(owners) > 1:
        choices = ", ".join(f"{pool.name}: {pool.gpu_device_plugin}" for pool in pools if is_gpu_pool(pool))
        raise charts.ValuesError(
            f"GPUs have two owners of their device plugin, and the GPU Operator has one ({choices})"
        )
    return "image" if "image" in owners else "operator"


_WHOLE_GPUS: Final = {
    part: {"enabled": False}
    for part in (
        *("migManager", "sandboxWorkloads", "sandboxDevicePlugin"),
        *("vgpuManager", "vgpuDeviceManager", "vfioManager"),
    )
}
"""Containers get whole GPUs: no MIG, no vGPU, no passthrough to virtual machines."""
_GPU_TAINT: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def gpu_operator_values(
    pools: Sequence[Pool],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    options: OperatorOptions = DEFAULTS,
    metrics: bool = False,
    accept_visible_devices_envvar: bool = False,
    system_node_selector: Mapping[str, str] = SYSTEM_POOL,
) -> dict[str, Any]:
    """The chart's Helm values: the values that follow from the pools, and the given ones.

    pools: all pools of the cluster. Pools without GPUs, or with gpu_driver none, matter only for the nodes of the
    operator. given: further values. options: the driver's version and upgrade hold if the operator owns the driver.
    metrics: true if the GPUs' metrics are read, so that DCGM exporter, which the chart starts by default, must stay.
    accept_visible_devices_envvar: true if containers without privileges may name GPUs by a variable. If not, the device
    plugin hands them out through CDI, as it does by default. system_node_selector: labels of the nodes that carry the
    operator; empty means any node that is in no pool.

    Raises charts.ValuesError for pools that one release cannot serve, and for a given value that contradicts what
    follows from them.
    """
    gpu_pools = [pool for pool in pools if is_gpu_pool(pool)]
    if driver_owner(pools) == "operator":
        owned = _owned_by_operator(gpu_pools, options, by_variable=accept_visible_devices_envvar)
    else:
        owned = _owned_by_others()
    if device_plugin_owner(pools) == "image":
        owned["devicePlugin"] = {"enabled": False}
        if not metrics:  # the image runs its own exporter, and two contend for the GPUs' counters
            owned["dcgmExporter"] = {"enabled": False}
    values = {
        # The Network Operator's chart brings the cluster's only Node Feature Discovery.
        "nfd": {"enabled": False},
        "daemonsets": {"tolerations": [_GPU_TAINT, *tolerations(gpu_pools)]},
        **_WHOLE_GPUS,
        "operator": {"affinity": system_node_affinity(system_node_selector, pools)},
    }
    if metrics:
        # Its own ServiceMonitor, on by default from 26.7 on, would have each series read twice.
        values["dcgmExporter"] = {"enabled": True, "serviceMonitor": {"enabled": False}}
    if not accept_visible_devices_envvar:
        values["cdi"] = {"enabled": True}
        check_strategy(given)
    derived = charts.over(charts.over(values, owned), charts.gpu_operator_images(options.registry))
    return charts.merge(given, derived, chart=GPU_OPERATOR_CHART.name)


def _owned_by_operator(pools: Sequence[Pool], options: OperatorOptions, *, by_variable: bool) -> dict[str, Any]:
    upgrade = options.upgrade.policy()
    # Pods' deletion may do what the drain may: a pod with GPUs and an emptyDir, such as its /dev/shm, would else have
    # its whole node drained (k8s-operator-libs 11e747a, pkg/upgrade/pod_manager.go).
    deletion = {key: value for key, value in upgrade["drain"].items() if key != "enable"}
    policy = {**upgrade, "gpuPodDeletion": deletion}
    driver: dict[str, Any] = {"enabled": True, **_gpu_direct(pools), "upgradePolicy": policy}
    if options.driver_version is not None:
        driver["version"] = options.driver_version
    return {"driver": driver, "toolkit": toolkit_values(by_variable=by_variable)}


def check_driver(pools: Sequence[Pool], *, chart: charts.ChartSource, values: Mapping[str, Any]) -> None:
    """That the GPUs of the pools are known to the driver that the operator installs.

    A driver that does not know a GPU loads, finds none, and the node never offers any.

    values: all of the release. A driver that is not named by a number, and a chart that is a path, are not judged.

    Raises charts.ValuesError for V100 with a driver, or a chart's own driver, that is too new for it.
    """
    old = [pool.name for pool in pools if pool.size.accelerator and pool.size.accelerator.model == "V100"]
    driver = values.get("driver", {})
    if not old or not driver.get("enabled"):
        return
    last, version = versions.LAST_BRANCH_WITH_V100, driver.get("version")
    needed = f"does not support V100, which pool {old[0]} has: give driverVersion of branch {last}, such as 580.126.20"
    if version is not None:
        branch = re.match(r"\d+(?=[.-]|$)", str(version))
        if branch and int(branch[0]) > last:
            raise charts.ValuesError(
                f"driver {version} {needed}", [("driverVersion", f"is {version!r}, which {needed}")]
            )
        return
    release = re.match(r"v?(\d+)\.(\d+)", chart.version or "")
    if release and (int(release[1]), int(release[2])) >= versions.FIRST_CHART_WITHOUT_V100:
        reason = f"is {chart.version!r}, whose driver {needed}"
        raise charts.ValuesError(f"the GPU Operator's chart.version {reason}", [("chart.version", reason)])


def _gpu_direct(pools: Sequence[Pool]) -> dict[str, Any]:
    """GPUDirect RDMA by DMA-BUF, which NVIDIA recommends, or by the driver's own nvidia-peermem.

    OFED in the Network Operator's container is not the host's: nvidia-peermem builds against the container's, and does
    not load when it is built against anything else (NVIDIA/aicr pull request 1680). So the driver pod waits for OFED
    (GPU Operator v26.3.3, cmd/nvidia-validator: `.driver-ready`), for ever if the kernel's own mlx5 is used. DMA-BUF
    takes the open kernel modules and no part of the operator (NVIDIA, "GPUDirect RDMA and GPUDirect Storage"). The
    values request those if gpuDirect says so; for other pools with the inbox driver a new value would restart drivers.
    """
    if len({pool.dma_buf for pool in pools}) > 1:
        choices = ", ".join(f"{pool.name}: {'dmabuf' if pool.dma_buf else 'nvidia-peermem'}" for pool in pools)
        raise charts.ValuesError(
            "pools whose GPU driver the operator owns reach GPUs in different ways, and GPUDirect RDMA is set once for "
            f"all of them ({choices}): give them the same gpuDirect"
        )
    rdma = {"rdma": {"enabled": not pools[0].dma_buf, "useHostMofed": False}}
    return {"kernelModuleType": "open", **rdma} if any(pool.asks_for_dma_buf for pool in pools) else rdma


def _owned_by_others() -> dict[str, Any]:
    """The three values that always belong together, if AKS or the node image has the driver.

    PeermemLoader loads nvidia-peermem with AKS's driver. That the image with a driver names the runtime class as AKS's
    others do is assumed.
    """
    return {
        "driver": {"enabled": False, "rdma": {"enabled": False, "useHostMofed": False}},
        "toolkit": {"enabled": False},
        "operator": {"runtimeClass": AKS_RUNTIME_CLASS},
    }


@dataclass(frozen=True, kw_only=True)
class GpuOperatorArgs(OperatorArgs):
    """The arguments of a GpuOperator.

    If the operator owns a pool's driver, its gpuProfile.driver must be None, and if AKS does, Install: two owners break
    the node. The timeout is that of the release, and after it that of the ClusterPolicy; no node need be there.
    """

    chart: charts.ChartSource = field(default_factory=lambda: charts.chart_source(GPU_OPERATOR_CHART))
    """The chart; NVIDIA's by default."""
    turns: DriverTurns | None = None
    """With it a change waits until the NIC driver's upgrade has ended."""


class GpuOperator(pulumi.ComponentResource):
    """The operator and its ClusterPolicy, both ready."""

    namespace: pulumi.Output[str]
    """The operator's namespace."""
    state: pulumi.Output[str]
    """`.status.state` of the ClusterPolicy: ready."""
    release: kubernetes.helm.v3.Release
    """For depends_on of what must change after it, and need not wait for its ClusterPolicy: a NicClusterPolicy."""

    def __init__(self, name: str, *, args: GpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = gpu_operator_values(args.pools) if args.values is None else args.values
        check_driver(args.pools, chart=args.chart, values=values)
        super().__init__("aks-infiniband:index:GpuOperator", name, None, opts)
        hooks = None if args.turns is None else args.turns.gpu_release
        release = self.release = install_operator(
            name, metadata.GPU_OPERATOR_NAMESPACE, args, values=values, parent=self, opts=opts, hooks=hooks
        )
        self.namespace = release.namespace.apply(str)  # the one it was given
        # The chart owns the ClusterPolicy; the patch adds only the wait for it.
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=args.pools)
        policy = kubernetes.apiextensions.CustomResourcePatch(
            f"{name}-policy",
            api_version="nvidia.com/v1",
            kind="ClusterPolicy",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=CLUSTER_POLICY_NAME, annotations=wait_annotations(args)),
            opts=waiting.child_options(f"{name}-policy", "cluster-policy", depends_on=[release]),
        )
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"namespace": self.namespace, "state": self.state})
