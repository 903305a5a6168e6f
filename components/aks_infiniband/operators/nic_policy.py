"""The Network Operator's policies: what it puts on every node with InfiniBand, and what on the nodes of one pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.limits import TIMEOUT_SECONDS
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.nic_policy_spec import NicPolicySpecs
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import child_options, wait_annotations

POLICY_NAME: Final = "nic-cluster-policy"
"""The only name that the operator looks at."""


@dataclass(frozen=True, kw_only=True)
class NicClusterPolicyArgs:
    """What a NicClusterPolicy takes."""

    policies: NicPolicySpecs
    """What the operator puts on the nodes of all pools (`nic_policy_specs`)."""
    timeout_seconds: float = TIMEOUT_SECONDS
    """How long the policy may take to become ready, from its creation. Nodes need not exist yet."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


class NicClusterPolicy(pulumi.ComponentResource):
    """The cluster's one NicClusterPolicy, ready when the operator says so.

    It needs the definitions that NetworkOperator installs: give that component as depends_on. Name, kind and
    group are fixed, so that no update can replace or delete it: that would take the fabric from under every pod.
    """

    state: pulumi.Output[str]
    """`.status.state`: ready."""

    def __init__(self, name: str, *, args: NicClusterPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:NicClusterPolicy", name, None, opts)
        policy = _policy(
            self,
            name,
            "NicClusterPolicy",
            POLICY_NAME,
            args.policies.cluster,
            wait=args,
            pools=args.policies.pools,
            opts=opts,
        )
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


@dataclass(frozen=True, kw_only=True)
class NicNodePolicyArgs:
    """What a NicNodePolicy takes."""

    pool_name: str
    """The pool that the policy is for."""
    policies: NicPolicySpecs
    """The same as the NicClusterPolicy's."""
    timeout_seconds: float = TIMEOUT_SECONDS
    """How long the policy may take to become ready, from its creation. Nodes need not exist yet."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


class NicNodePolicy(pulumi.ComponentResource):
    """What one pool has and others have not: its driver, its device plugin. Named after the pool.

    Give NicClusterPolicy as depends_on: a section that moves here must have left that one before. The operator makes
    what moves anew. For a device plugin that is nothing to notice; the driver, which moves when a first pool with the
    inbox driver comes beside others, reloads on their nodes, so nothing should run on them then.

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
        policy = _policy(self, name, "NicNodePolicy", args.pool_name, spec, wait=args, pools=pools, opts=opts)
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})


def _policy(
    component: pulumi.Resource,
    name: str,
    kind: Literal["NicClusterPolicy", "NicNodePolicy"],
    policy_name: str,
    spec: dict[str, Any],
    *,
    wait: NicClusterPolicyArgs | NicNodePolicyArgs,
    pools: Sequence[Pool],
    opts: pulumi.ResourceOptions | None,
) -> kubernetes.apiextensions.CustomResource:
    """The custom resource. The wait is part of its registration: once its id is known, its state is ready."""
    waiting_for: diagnosis.WaitingFor = "nic-cluster-policy" if kind == "NicClusterPolicy" else "nic-node-policy"
    return kubernetes.apiextensions.CustomResource(
        name,
        api_version="mellanox.com/v1alpha1",
        kind=kind,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(
            name=policy_name,
            labels=metadata.labels(policy_name, "policy"),
            annotations=wait_annotations("jsonpath={.status.state}=ready", wait.timeout_seconds),
        ),
        spec=spec,
        opts=child_options(
            component,
            opts,
            hooks=diagnosis.on_error(name, waiting_for=waiting_for, kubeconfig=wait.kubeconfig, pools=pools),
        ),
    )
