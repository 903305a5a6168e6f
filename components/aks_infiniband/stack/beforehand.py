"""Requirements that others must meet in a cluster before the program creates anything there. The program looks first,
and reports at once what is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.facts.managed import managed_of
from aks_infiniband.hosts.dranet_nodes import unsuitable
from aks_infiniband.operators import existing_gpu_operator, existing_network_operator
from aks_infiniband.stack import image_owners
from aks_infiniband.stack.stack import Stack
from aks_infiniband.workload.pods import NAMESPACE
from aks_infiniband.workload.scheduling import BRING, GROUPS, KINDS, Scheduler

_LIMIT_SECONDS: Final = 30.0
Lack = tuple[str, str]
"""A state that is not as required, and what to do."""


class BeforehandError(pulumi.RunError):
    """A cluster that lacks what others make; the text names each thing, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """The result of looking for one thing."""

    what: str
    """Such as namespaces."""
    found: str
    """The state in words, if nothing is lacking."""
    lacking: Sequence[Lack] = ()
    unread: str | None = None
    """The reason why the cluster could not be read; None if it could."""


def looks(kubeconfig: str, stack: Stack) -> Iterator[Look]:
    """A look at each thing in the cluster that others make and the stack needs."""
    wanted = [name for name in stack.namespaces if name != NAMESPACE]
    if wanted and not stack.settings.workload.create_namespaces:
        yield _namespaces(kubeconfig, wanted)
    if stack.operators.network is None:
        yield _network_operator(kubeconfig, stack)
    if stack.settings.gpu_operator.existing:
        yield _gpu_operator(kubeconfig, stack)
    if stack.existing:
        yield _managed(kubeconfig, stack)
    if stack.existing and any(pool.size.nvlink_domain > 1 for pool in stack.pools):
        yield _node_images(kubeconfig, stack)
    if stack.existing and any(pool.access.claims or pool.has_compute_domain for pool in stack.pools):
        yield _claims(kubeconfig, stack)
    if stack.settings.scheduler_topology:
        yield _scheduler(kubeconfig, stack.settings.scheduler_topology.scheduler)


def _namespaces(kubeconfig: str, wanted: Sequence[str]) -> Look:
    from aks_infiniband.diagnosis.collect import namespaces  # noqa: PLC0415  a client takes long to load

    present, unread = namespaces(kubeconfig, limit_seconds=_LIMIT_SECONDS)
    there = {namespace["metadata"]["name"] for namespace in present}
    missing = [name for name in wanted if name not in there]
    lack = (
        f"the cluster does not have the namespace {', '.join(missing)}, which aks-infiniband:workload.namespaces names",
        f"{'; '.join(f'kubectl create namespace {name}' for name in missing)}; or set "
        "aks-infiniband:workload.createNamespaces: true",
    )
    return Look(
        what="namespaces",
        found=f"the cluster has {', '.join(wanted)}",
        lacking=[lack] if missing and not unread else [],
        unread=unread[0] if unread else None,
    )


def _network_operator(kubeconfig: str, stack: Stack) -> Look:
    policies, nodes, unread = existing_network_operator.policies_there(kubeconfig)
    judge = existing_network_operator.Judge(
        policies=policies,
        nodes=nodes,
        specs=stack.policies,
        options=stack.operators.options,
        finds_gpus=stack.operators.gpu is not None,
    )
    return Look(
        what="Network Operator",
        found="the policies that are there suit the pools",
        lacking=[] if unread else list(judge.lacking()),
        unread=unread[0] if unread else None,
    )


def _gpu_operator(kubeconfig: str, stack: Stack) -> Look:
    policies, unread = existing_gpu_operator.policies_there(kubeconfig)
    policy = existing_gpu_operator.followed(policies)
    if unread or policy is None:
        lacking = [] if unread else [(existing_gpu_operator.MISSING, "kubectl get clusterpolicies")]
        return Look(what="GPU Operator", found="", lacking=lacking, unread=unread[0] if unread else None)
    name = policy["metadata"]["name"]
    edit = f"kubectl edit clusterpolicy {name}, or the values from which its owner installs it"
    nodes = existing_gpu_operator.nodes_of(kubeconfig)
    lacking = [(reason, edit) for reason in existing_gpu_operator.unsuitable(policy, stack.pools, nodes)]
    remarks = "".join(f"; {remark}" for remark in existing_gpu_operator.remarks(policy, stack.pools, nodes))
    return Look(what="GPU Operator", found=f"ClusterPolicy {name} suits the pools{remarks}", lacking=lacking)


def _managed(kubeconfig: str, stack: Stack) -> Look:
    """Look for what AKS manages: it must not be what this program manages on the pools' nodes."""
    from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  a client takes long to load

    every, unread = nodes(kubeconfig, limit_seconds=_LIMIT_SECONDS)
    lacking: dict[str, str] = {}
    for pool in stack.pools:
        for node in labelled(every, pool.node_selector):
            for managed in managed_of(node["metadata"].get("labels") or {}):
                what = f"the nodes of pool {pool.name} have {managed.name}, which owns {managed.owns}"
                lacking[what] = managed.instead
    return Look(
        what="what AKS manages",
        found="AKS manages neither adapters nor GPUs of the pools",
        lacking=list(lacking.items()),
        unread=unread[0] if unread else None,
    )


def _node_images(kubeconfig: str, stack: Stack) -> Look:
    """Compare the nodes' images with the owners of their drivers."""
    from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  a client takes long to load

    every, unread = nodes(kubeconfig, limit_seconds=_LIMIT_SECONDS)
    return Look(
        what="node images",
        found="the owners of drivers and device plugin agree with the node images",
        lacking=list(image_owners.contradicting(stack.pools, every).items()),
        unread=unread[0] if unread else None,
    )


def _claims(kubeconfig: str, stack: Stack) -> Look:
    """Check that the nodes of pools whose pods have claims are new enough, and in mode dra free of device plugins."""
    from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  a client takes long to load

    every, unread = nodes(kubeconfig, limit_seconds=_LIMIT_SECONDS)
    return Look(
        what="nodes for claims",
        found="the nodes of the pools whose pods have claims take them",
        lacking=list(unsuitable(stack.pools, every)),
        unread=unread[0] if unread else None,
    )


def _scheduler(kubeconfig: str, scheduler: Scheduler) -> Look:
    """Look for the definitions of the objects that a scheduler reads."""
    from aks_infiniband.diagnosis.collect import absent_kinds  # noqa: PLC0415  a client takes long to load

    api, kinds = GROUPS[scheduler], KINDS[scheduler]
    absent, unread = absent_kinds(kubeconfig, api, kinds, limit_seconds=_LIMIT_SECONDS, namespaced=False)
    lack = (
        f"the cluster has no {' and no '.join(absent)} of {api}, which aks-infiniband:schedulerTopology needs",
        f"{BRING[scheduler]}; or leave the setting out until they are there",
    )
    return Look(
        what="scheduler",
        found=f"the cluster has {' and '.join(kinds)} of {api}",
        lacking=[lack] if absent else [],
        unread=unread[0] if unread else None,
    )


def needed(stack: Stack) -> bool:
    """True if a stack needs anything of others in its cluster."""
    namespaces = len(stack.namespaces) > 1 and not stack.settings.workload.create_namespaces
    return stack.existing is not None or namespaces or stack.settings.scheduler_topology is not None


async def required(kubeconfig: str, stack: Stack) -> str:
    """The kubeconfig of a cluster that has it all, or that cannot be reached.

    Raises BeforehandError for one that has not.
    """
    made = await within_limit(lambda: list(looks(kubeconfig, stack)), 4 * _LIMIT_SECONDS)
    lacking = [lack for seen in made or () for lack in seen.lacking]
    if lacking:
        lines = "\n".join(f"  - {what}\n    do: {remedy}" for what, remedy in lacking)
        raise BeforehandError(f"nothing was made in the cluster, because others have to act first:\n{lines}")
    return kubeconfig
