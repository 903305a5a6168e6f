"""The Network Operator's policies: what it installs on all nodes with InfiniBand, and on the nodes of one pool.

The NicClusterPolicy, one in a cluster, holds what all pools share. If pools differ in their driver or their device
plugin, only the NicNodePolicies of the pools that want it hold that section: the operator refuses a section that is in
both kinds, and an ofedDriver in the cluster's policy would keep the device plugins off every node without an OFED pod
for ever (Mellanox/network-operator v26.4.1, docs/heterogeneous-cluster-support.md and
controllers/mofed_wait_labels.go). A NicNodePolicy selects nodes by labels that all hold, so there is one for a pool.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.modes import RDMA_SHARED_RESOURCE, SRIOV_RESOURCE
from aks_infiniband.facts.pool import Pool, node_affinity, tolerated
from aks_infiniband.facts.versions import Image
from aks_infiniband.operators.driver_turns import DriverTurns
from aks_infiniband.operators.network_operator import PRESENT
from aks_infiniband.operators.release import DEFAULTS, OperatorOptions
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, wait_annotations
from aks_infiniband.resources.registry import Registry

Spec = dict[str, Any]

POLICY_NAME: Final = "nic-cluster-policy"
"""The only name that the operator looks at."""
PODS_PER_NODE: Final = 63
"""Pods of a node that share its HCAs (AKS InfiniBand guide, configs/nicclusterpolicy/rdma-shared-device-plugin)."""
_SELECTORS: Final = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
"""The link type keeps the Ethernet mlx5 device of accelerated networking out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NicPolicySpecs:
    """The specs of the policies that together serve all pools."""

    pools: Sequence[Pool]
    """All of them."""
    cluster: Spec
    """Spec of the NicClusterPolicy."""
    nodes: Mapping[str, Spec]
    """Specs of the NicNodePolicies, by pool; empty if all pools agree."""


def nic_policy_specs(pools: Sequence[Pool], options: OperatorOptions = DEFAULTS) -> NicPolicySpecs:
    """The specs for these pools, which are all that the cluster's policies are for."""
    wanted = {pool.name: _sections(pool, options) for pool in pools}
    first, *others = wanted.values()
    shared = {key: spec for key, spec in first.items() if all(other.get(key) == spec for other in others)}
    nodes = {
        pool.name: _node_policy(pool, {key: spec for key, spec in wanted[pool.name].items() if key not in shared})
        for pool in pools
        if wanted[pool.name].keys() - shared.keys()
    }
    return NicPolicySpecs(pools=pools, cluster=_cluster_policy(pools, shared, options), nodes=nodes)


def pool_sections(pool: Pool, options: OperatorOptions = DEFAULTS) -> Spec:
    """Everything that both kinds of policy install on the pool's nodes. The result depends on this pool alone."""
    network = _secondary_network(options) if pool.access.networks else {}
    return {**_sections(pool, options), **network}


def _cluster_policy(pools: Sequence[Pool], shared: Mapping[str, Spec], options: OperatorOptions) -> Spec:
    spec: Spec = {"nodeAffinity": node_affinity(pools, labels=PRESENT), **shared}
    # NVIDIA publishes the telemetry service for amd64 only, and the affinity is one for all parts.
    if all(pool.size.architecture == "amd64" for pool in pools):
        spec["docaTelemetryService"] = options.registry.fields(options.release.parts.doca_telemetry)
    if any(pool.access.networks for pool in pools):
        spec |= _secondary_network(options)
    return {**spec, **tolerated(pools)}


def _node_policy(pool: Pool, sections: Mapping[str, Spec]) -> Spec:
    return {"nodeSelector": dict(pool.node_selector), **sections, **tolerated([pool])}


def _sections(pool: Pool, options: OperatorOptions) -> dict[str, Spec]:
    """The sections that a NicNodePolicy can hold, as this pool wants them."""
    sections: dict[str, Spec] = {}
    if pool.nic_driver == "doca-ofed":
        sections["ofedDriver"] = _ofed_driver(options)
    if pool.access.device_plugin == "rdmaSharedDevicePlugin":
        _, _, name = RDMA_SHARED_RESOURCE.partition("/")
        shared = {"resourceName": name, "rdmaHcaMax": PODS_PER_NODE, "selectors": _SELECTORS}
        sections["rdmaSharedDevicePlugin"] = _plugin(
            options.release.parts.rdma_shared_device_plugin, {"configList": [shared]}, options.registry
        )
    if pool.access.device_plugin == "sriovDevicePlugin":
        # No PCI address and no driver's name: they differ by size and by driver (field reports, B14).
        prefix, _, name = SRIOV_RESOURCE.partition("/")
        whole = {"resourcePrefix": prefix, "resourceName": name, "selectors": {**_SELECTORS, "isRdma": True}}
        sections["sriovDevicePlugin"] = _plugin(
            options.release.parts.sriov_device_plugin, {"resourceList": [whole]}, options.registry
        )
    return sections


def _ofed_driver(options: OperatorOptions) -> Spec:
    """Probes and upgrade policy are those of the AKS InfiniBand guide (Azure/aks-rdma-infiniband, base policy)."""
    image = options.release.parts.doca_driver
    return {
        **options.registry.fields(replace(image, version=options.driver_version or image.version)),
        "forcePrecompiled": False,
        # Without it the module's loading races with the host's own blacklist (doca-driver-build issue 52).
        "env": [
            {
                "name": "OFED_BLACKLIST_MODULES_FILE",
                "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf",
            }
        ],
        "upgradePolicy": options.upgrade.policy(),
        "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
        "livenessProbe": {"initialDelaySeconds": 30, "periodSeconds": 30},
        "readinessProbe": {"initialDelaySeconds": 10, "periodSeconds": 30},
    }


def _plugin(image: Image, config: Mapping[str, Any], registry: Registry) -> Spec:
    return {**registry.fields(image), "config": json.dumps(config, indent=2)}


def _secondary_network(options: OperatorOptions) -> Spec:
    """Whereabouts left the operator with release 25.10, so NV-IPAM gives out the addresses (field reports, B17)."""
    registry, parts = options.registry, options.release.parts
    return {
        "secondaryNetwork": {
            "cniPlugins": registry.fields(parts.cni_plugins),
            "multus": registry.fields(parts.multus),
            "ipoib": registry.fields(parts.ipoib_cni),
        },
        # Its webhook needs cert-manager.
        "nvIpam": {**registry.fields(parts.nv_ipam), "enableWebhook": False},
    }


@dataclass(frozen=True, kw_only=True)
class NicClusterPolicyArgs(WaitArgs):
    """The arguments of a NicClusterPolicy. Nodes need not exist yet."""

    policies: NicPolicySpecs
    """The parts that the operator puts on the nodes of all pools (`nic_policy_specs`)."""
    turns: DriverTurns | None = None
    """With it a change waits until the GPU driver's upgrade has ended. Give the GpuOperator's release as depends_on."""


class NicClusterPolicy(pulumi.ComponentResource):
    """The cluster's one NicClusterPolicy, ready when the operator says so.

    The policy needs the definitions that NetworkOperator installs: give that component as depends_on. Name, kind and
    group are fixed, so that no update can replace or delete it: that would cut every pod off the fabric.
    """

    state: pulumi.Output[str]
    """`.status.state`: ready."""

    def __init__(self, name: str, *, args: NicClusterPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:NicClusterPolicy", name, None, opts)
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=args.policies.pools)
        policy = _policy(name, "NicClusterPolicy", POLICY_NAME, args.policies.cluster, waiting, args.turns)
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


@dataclass(frozen=True, kw_only=True)
class NicNodePolicyArgs(WaitArgs):
    """The arguments of a NicNodePolicy. Nodes need not exist yet."""

    pool_name: str
    """The pool that the policy is for."""
    policies: NicPolicySpecs
    """The same as the NicClusterPolicy's."""
    turns: DriverTurns | None = None
    """The same as the NicClusterPolicy's."""


class NicNodePolicy(pulumi.ComponentResource):
    """The driver or device plugin that one pool has and the others have not. Named after the pool.

    Give NicClusterPolicy as depends_on: the operator refuses a section that is in both, so a section that moves here
    has to leave that policy first. The operator recreates what moves. Pods do not notice that of a device plugin. The
    driver moves when the first pool with the inbox driver joins pools with OFED. The driver then reloads on their
    nodes, so nothing should run there at that time.

    Raises pulumi.RunError for a pool that shares everything with the others.
    """

    state: pulumi.Output[str]
    """`.status.state`: ready."""

    def __init__(self, name: str, *, args: NicNodePolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        spec = args.policies.nodes.get(args.pool_name)
        if spec is None:
            raise pulumi.RunError(
                f"pool {args.pool_name} needs no NicNodePolicy: its driver and device plugin are those of all pools, "
                "which the NicClusterPolicy holds"
            )
        super().__init__("aks-infiniband:index:NicNodePolicy", name, None, opts)
        pools = [pool for pool in args.policies.pools if pool.name == args.pool_name]
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=pools)
        policy = _policy(name, "NicNodePolicy", args.pool_name, spec, waiting, args.turns)
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


def _policy(
    name: str,
    kind: str,
    policy_name: str,
    spec: dict[str, Any],
    waiting: diagnosis.Waiting,
    turns: DriverTurns | None,
) -> kubernetes.apiextensions.CustomResource:
    """The custom resource. The wait is part of its registration: once its id is known, its state is ready.

    A change may take as long for each node as all of them together may take at first: a driver reaches one after the
    other.
    """
    nodes = sum(pool.node_count for pool in waiting.pools)
    update = f"{round(waiting.args.timeout_seconds) * max(1, nodes)}s"
    about: diagnosis.WaitingFor = "nic-cluster-policy" if kind == "NicClusterPolicy" else "nic-node-policy"
    return kubernetes.apiextensions.CustomResource(
        name,
        api_version="mellanox.com/v1alpha1",
        kind=kind,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(
            name=policy_name,
            labels=metadata.labels(policy_name, "policy"),
            annotations=wait_annotations(waiting.args),
        ),
        spec=spec,
        opts=waiting.child_options(
            name,
            about,
            hooks=None if turns is None else turns.nic_policy,
            custom_timeouts=pulumi.CustomTimeouts(update=update),
        ),
    )
