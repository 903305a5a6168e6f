"""A GPU Operator that others keep: the program makes and changes nothing of it; its ClusterPolicy is read and
judged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.facts.pool import Pool, taint_text, tolerates
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART
from aks_infiniband.operators import existing_policy
from aks_infiniband.operators.container_toolkit import RUNTIME_CONFIG
from aks_infiniband.operators.existing_policy import LOOK_SECONDS, Policy
from aks_infiniband.operators.gpu_operator import AKS_RUNTIME_CLASS, device_plugin_owner, driver_owner, is_gpu_pool
from aks_infiniband.operators.network_operator import PRESENT
from aks_infiniband.resources.options import WaitArgs

MISSING: Final = (
    "the cluster does not have a ClusterPolicy, so a GPU Operator does not run there: have it installed, or leave out "
    "aks-infiniband:gpuOperator.existing, and this program installs one"
)


def followed(policies: Sequence[Policy]) -> Policy | None:
    """The policy that the operator follows; of several it keeps one and calls the others ignored. None if there is
    none.
    """
    heeded = [policy for policy in policies if (policy.get("status") or {}).get("state") != "ignored"]
    return min(heeded, key=lambda policy: str(policy["metadata"].get("creationTimestamp")), default=None)


def unsuitable(policy: Policy, pools: Sequence[Pool], nodes: Sequence[Mapping[str, Any]] = ()) -> Iterator[str]:
    """The reasons why the pools' pods do not reach their GPUs, or their GPUs the HCAs; the defaults are those of the
    operator v26.3.3, api/nvidia/v1/clusterpolicy_types.go.

    nodes: the cluster's.
    """
    spec = policy.get("spec") or {}
    name = policy["metadata"]["name"]
    gpu_pools = [pool for pool in pools if is_gpu_pool(pool)]
    owner, owners = driver_owner(gpu_pools), ", ".join(pool.name for pool in gpu_pools)
    plugin = device_plugin_owner(gpu_pools) == "operator"
    wanted = {"driver": owner == "operator", "toolkit": owner == "operator", "devicePlugin": plugin}
    for part, on in wanted.items():
        if _enabled(spec, part) != on:
            has, needs = str(not on).lower(), str(on).lower()
            yield f"ClusterPolicy {name} has {part}.enabled: {has}; gpuDriver {owner} of pool {owners} needs {needs}"
    runtime_class = (spec.get("operator") or {}).get("runtimeClass")
    if owner != "operator" and runtime_class != AKS_RUNTIME_CLASS:
        yield (
            f"ClusterPolicy {name} has operator.runtimeClass: {runtime_class}; gpuDriver {owner} needs "
            f"{AKS_RUNTIME_CLASS}"
        )
    sandbox = spec.get("sandboxWorkloads") or {}
    if sandbox.get("enabled") and sandbox.get("defaultWorkload", "container") != "container":
        yield f"ClusterPolicy {name} hands GPUs to virtual machines: sandboxWorkloads.defaultWorkload must be container"
    if owner == "operator" and _enabled(spec, "driver") and not _in_driver_objects(spec):
        yield from _gpu_direct(name, spec.get("driver") or {}, gpu_pools)
    if _enabled(spec, "toolkit"):
        yield from _toolkit(name, spec.get("toolkit") or {}, gpu_pools, nodes)
    yield from _tolerations(name, spec, gpu_pools)


def remarks(policy: Policy, pools: Sequence[Pool] = (), nodes: Sequence[Mapping[str, Any]] = ()) -> Iterator[str]:
    """Remarks that need not stop an update, and that the user ought to know. nodes: the cluster's."""
    labels, name = policy["metadata"].get("labels") or {}, policy["metadata"]["name"]
    version, ours = labels.get("app.kubernetes.io/version"), GPU_OPERATOR_CHART.version
    if version is None or _release(version) < _release(ours):
        said = "does not say its version" if version is None else f"is of GPU Operator {version}"
        yield f"ClusterPolicy {name} {said}; what this program expects is that of {ours}"
    if _in_driver_objects(policy.get("spec") or {}):
        yield f"ClusterPolicy {name} leaves the driver to NVIDIADriver objects, whose RDMA settings are not read here"

    others = [node["metadata"] for node in nodes if not any(_is_of(node, pool) for pool in pools)]
    labelled = [str(other["name"]) for other in others if PRESENT.items() <= (other.get("labels") or {}).items()]
    if labelled:
        yield (
            f"Node Feature Discovery labels nodes without InfiniBand {'='.join(*PRESENT.items())}, by their Ethernet "
            f"adapters, such as {', '.join(labelled[:3])}. On other kernels the Network Operator waits for them "
            "in vain: in the discovery's workers set sources.pci.deviceClassWhitelist to 0300 and 0302"
        )


def _is_of(node: Mapping[str, Any], pool: Pool) -> bool:
    return pool.node_selector.items() <= (node["metadata"].get("labels") or {}).items()


def _release(version: str) -> tuple[int, ...]:
    """Major and minor of v26.3.3."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _enabled(spec: Mapping[str, Any], part: str) -> bool:
    return bool((spec.get(part) or {}).get("enabled", True))


def _in_driver_objects(spec: Mapping[str, Any]) -> bool:
    return bool((spec.get("driver") or {}).get("useNvidiaDriverCRD"))


def _gpu_direct(name: str, driver: Mapping[str, Any], pools: Sequence[Pool]) -> Iterator[str]:
    """GPUDirect RDMA as `gpu_operator` sets it; the reason is there."""
    rdma = driver.get("rdma") or {}
    by_module = bool(rdma.get("enabled"))
    has = f"ClusterPolicy {name} has driver"
    for pool in pools:
        way = "dmabuf" if pool.dma_buf else "nvidia-peermem"
        of = f"pool {pool.name} ({pool.nic_driver}, gpuDirect {way})"
        if not pool.dma_buf and not by_module:
            yield f"{has}.rdma.enabled: false; {of} needs true, or give it gpuDirect: auto"
        if pool.nic_driver == "inbox" and by_module:
            yield f"{has}.rdma.enabled: true; {of} needs false: its GPU drivers would wait for OFED for ever"
        if pool.nic_driver != "inbox" and by_module and rdma.get("useHostMofed"):
            yield f"{has}.rdma.useHostMofed: true; {of} needs false: its OFED is in a container"
        if pool.asks_for_dma_buf and driver.get("kernelModuleType") == "proprietary":
            yield f"{has}.kernelModuleType: proprietary; {of} needs open"


def _toolkit(
    name: str, toolkit: Mapping[str, Any], pools: Sequence[Pool], nodes: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Nodes that offer GPUs already are not at risk. The reason is in `gpu_operator`."""
    if dict(RUNTIME_CONFIG) in (toolkit.get("env") or []):
        return
    feared = [
        str(node["metadata"]["name"])
        for node in nodes
        if any(_is_of(node, pool) for pool in pools)
        and node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://2")
        and not any(node["status"].get("allocatable", {}).get(pool.gpu_resource, "0") != "0" for pool in pools)
    ]
    if feared:
        yield (
            f"ClusterPolicy {name} lacks {'='.join(RUNTIME_CONFIG.values())} in toolkit.env: with AKS's containerd 2 "
            f"the toolkit makes nodes NotReady (GPU Operator issue 2646), here {', '.join(feared[:3])}"
        )


def _tolerations(name: str, spec: Mapping[str, Any], pools: Sequence[Pool]) -> Iterator[str]:
    tolerations = (spec.get("daemonsets") or {}).get("tolerations") or []
    for pool in pools:
        for wanted in pool.upkeep_tolerations:
            if wanted["effect"] != "PreferNoSchedule" and not any(tolerates(each, wanted) for each in tolerations):
                yield (
                    f"ClusterPolicy {name} does not tolerate the taint {taint_text(wanted)} of pool {pool.name}: "
                    "add it to daemonsets.tolerations"
                )


@dataclass(frozen=True, kw_only=True)
class ExistingGpuOperatorArgs(WaitArgs):
    """The arguments of an ExistingGpuOperator. Without a kubeconfig nothing is looked at."""

    pools: Sequence[Pool]
    """The cluster's pools with InfiniBand."""
    poll_seconds: float = 10
    """Seconds between two looks."""


class ExistingGpuOperator(pulumi.ComponentResource):
    """A GPU Operator that is there, once its ClusterPolicy suits the pools and says ready. At preview nothing is
    waited for.
    """

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs GPUs; fails with PolicyError."""

    def __init__(self, name: str, *, args: ExistingGpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:ExistingGpuOperator", name, None, opts)
        self._args = args
        self.ready = pulumi.Output.from_input(args.kubeconfig).apply(self._wait)
        self.register_outputs({})

    async def _wait(self, kubeconfig: str | None) -> pulumi.Resource:
        if kubeconfig is None or pulumi.runtime.is_dry_run():
            return self
        (policy,) = await existing_policy.ready(
            partial(_followed, kubeconfig),
            missing=MISSING,
            poll_seconds=self._args.poll_seconds,
            timeout_seconds=self._args.timeout_seconds,
        )
        nodes = await within_limit(lambda: nodes_of(kubeconfig), LOOK_SECONDS)
        for remark in remarks(policy, self._args.pools, nodes or []):
            pulumi.log.warn(remark, self)
        return self


def _followed(kubeconfig: str) -> list[Policy]:
    policy = followed(policies_there(kubeconfig)[0])
    return [] if policy is None else [policy]


def policies_there(kubeconfig: str) -> tuple[list[Policy], list[str]]:
    """The ClusterPolicies of a cluster, and the reason why it could not be read."""
    from aks_infiniband.diagnosis.collect import cluster_policies  # noqa: PLC0415  a client takes long to load

    policies, unread = cluster_policies(kubeconfig, limit_seconds=LOOK_SECONDS)
    return list(policies), unread


def nodes_of(kubeconfig: str) -> list[dict[str, Any]]:
    """The cluster's nodes; none if it cannot be read."""
    from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  as above

    return [dict(node) for node in nodes(kubeconfig, limit_seconds=LOOK_SECONDS)[0]]
