"""The Network Operator's policies: what it installs on all nodes with InfiniBand, and on the nodes of one pool."""

from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.operators.nic_policy_spec import NicPolicySpecs
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, wait_annotations

POLICY_NAME: Final = "nic-cluster-policy"
"""The only name that the operator looks at."""


@dataclass(frozen=True, kw_only=True)
class NicClusterPolicyArgs(WaitArgs):
    """What a NicClusterPolicy takes. Nodes need not exist yet."""

    policies: NicPolicySpecs
    """What the operator puts on the nodes of all pools (`nic_policy_specs`)."""


class NicClusterPolicy(pulumi.ComponentResource):
    """The cluster's one NicClusterPolicy, ready when the operator says so.

    It needs the definitions that NetworkOperator installs: give that component as depends_on. Name, kind and
    group are fixed, so that no update can replace or delete it: that would cut every pod off the fabric.
    """

    state: pulumi.Output[str]
    """`.status.state`: ready."""

    def __init__(self, name: str, *, args: NicClusterPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:NicClusterPolicy", name, None, opts)
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=args.policies.pools)
        policy = _policy(name, "NicClusterPolicy", POLICY_NAME, args.policies.cluster, waiting)
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


@dataclass(frozen=True, kw_only=True)
class NicNodePolicyArgs(WaitArgs):
    """What a NicNodePolicy takes. Nodes need not exist yet."""

    pool_name: str
    """The pool that the policy is for."""
    policies: NicPolicySpecs
    """The same as the NicClusterPolicy's."""


class NicNodePolicy(pulumi.ComponentResource):
    """The driver or device plugin that one pool has and the others have not. Named after the pool.

    Give NicClusterPolicy as depends_on: the operator refuses a section that is in both, so a section that moves here
    has to leave that policy first. The operator recreates what moves. Pods do not notice that of a device plugin. The
    driver moves when the first pool with the inbox driver joins pools with OFED. It then reloads on their nodes, so
    nothing should run there at that time.

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
        policy = _policy(name, "NicNodePolicy", args.pool_name, spec, waiting)
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


def _policy(
    name: str, kind: str, policy_name: str, spec: dict[str, Any], waiting: diagnosis.Waiting
) -> kubernetes.apiextensions.CustomResource:
    """The custom resource. The wait is part of its registration: once its id is known, its state is ready."""
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
        opts=waiting.child_options(name, "nic-cluster-policy" if kind == "NicClusterPolicy" else "nic-node-policy"),
    )
