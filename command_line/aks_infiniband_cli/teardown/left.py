"""The leftovers, and the command that removes each: pure functions over the objects that were read."""

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.azure.identity import assignment_name
from aks_infiniband.diagnosis.holds import CORDONED_BY_VALIDATE as CORDONED
from aks_infiniband.facts import azure_names
from aks_infiniband.facts.driver_upgrades import GPU, NIC
from aks_infiniband.resources.metadata import (
    OPERATOR_NAMESPACES,
    PART_OF,
    SYSTEM_NAMESPACE,
)
from aks_infiniband.validation.reports import CONDITION
from aks_infiniband.workload.pods import NAMESPACE

from aks_infiniband_cli.azure.answers import Assignment, Group

_OPERATORS: Final = OPERATOR_NAMESPACES
NAMESPACES: Final = (*_OPERATORS, SYSTEM_NAMESPACE, NAMESPACE)
GROUPS: Final = frozenset(
    {
        *("mellanox.com", "nvidia.com", "nv-ipam.nvidia.com", "nfd.k8s-sigs.io", "k8s.cni.cncf.io"),
        "resource.nvidia.com",
        *("amd.com", "kmm.sigs.x-k8s.io"),
    }
)
"""API groups of the definitions that network-operator 26.4.1 and gpu-operator 26.3.3 bring, then that of gpu-operator
26.7's computedomains and computedomaincliques, then those of AMD's gpu-operator 1.5.1. Helm leaves definitions in place
when it removes a release.
"""
_LABELS: Final = (
    *("feature.node.kubernetes.io/", "nvidia.com/", "network.nvidia.com/"),
    *("amd.com/", "beta.amd.com/", "kmm.node.kubernetes.io/", "gpu.operator.amd.com/"),
)
"""Prefixes of the labels that Node Feature Discovery and the operators put on nodes."""
_TAINTS: Final = ("nvidia.com/", "mellanox.com/", "amd-gpu-driver-upgrade")
"""Prefixes of the taints that operators put on nodes while they upgrade a driver (AMD's: ROCm/gpu-operator v1.5.1,
internal/controllers/upgrademgr.go).
"""
_ANNOTATIONS: Final = "aks-infiniband/"
"""Prefixes of the annotations that `validate` and `rollout` put on nodes."""
_OPERATORS_ANNOTATIONS: Final = (GPU, NIC)
"""Prefixes of the annotations of nodes that operators leave: -enabled stays (gpu-operator v26.3.3,
state_manager.go).
"""
_UNLESS: Final = ", unless something else in the cluster uses it"
"""Ends the remedy for what others may have brought, or may need."""
_IN_USE: Final = "kueue.x-k8s.io/resource-in-use"
"""Kueue's finalizer of what another object refers to (kubernetes-sigs/kueue v0.17.0, resourceflavor_controller.go)."""
_POLICIES: Final = ("NicClusterPolicy", "NicNodePolicy")
Object = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Orphan:
    """Something that is left. remedy: the command that removes it."""

    what: str
    remedy: str


@dataclass(frozen=True, kw_only=True)
class Leftovers:
    """The findings on a stack. `where`: the place of the look, in words. lives: the sign that it was not destroyed;
    None: it was.

    left: the leftovers, or the parts in use if it lives.
    """

    where: str
    lives: str | None
    left: list[Orphan]


def groups_of(groups: Sequence[Group], *, cluster_id: str, location: str, node_group: str | None) -> list[Group]:
    """The groups of a stack: the cluster's own, and the one in which AKS keeps the machines.

    A group that a cluster manages is that cluster's, whatever its name; else the whole name decides. `managedBy` is
    the cluster's resource ID, in other letters (recorded: arm-bodies.yaml).

    cluster_id: resource ID. location: the cluster's region. node_group: its name if the stack gives one.
    """
    group, cluster = cluster_id.split("/")[4], cluster_id.rsplit("/", 1)[-1]
    names = {group.lower(), (node_group or azure_names.node_group(group, cluster, location)).lower()}
    return [
        each
        for each in groups
        if (each.managed_by.lower() == cluster_id.lower() if each.managed_by else each.name.lower() in names)
    ]


def cluster_in(groups: Sequence[Group], cluster_id: str) -> str | None:
    """The place of a stack's cluster, in words; None if it is gone. groups: the stack's, with their contents."""
    for group in groups:
        if any(resource.lower() == cluster_id.lower() for resource in group.resources):
            return f"cluster {cluster_id.rsplit('/', 1)[-1]} in resource group {group.name}"
    return None


def stack_in(namespaces: Sequence[Object], customs: Sequence[Object]) -> str | None:
    """The sign that a stack is in a cluster of others, in words; None without one.

    The sign is its policy together with the program's own namespace, if neither is being deleted.
    """
    there = {each["metadata"]["name"] for each in namespaces if not each["metadata"].get("deletionTimestamp")}
    for custom in customs:
        metadata = custom["metadata"]
        ours = PART_OF.items() <= (metadata.get("labels") or {}).items() and not metadata.get("deletionTimestamp")
        if ours and custom["kind"] in _POLICIES and SYSTEM_NAMESPACE in there:
            return f"{custom['kind']} {metadata['name']} and namespace {SYSTEM_NAMESPACE}"
    return None


def in_azure(groups: Sequence[Group], subscription_id: str) -> Iterator[Orphan]:
    """Resources, each with its command, and then their group."""
    for group in groups:
        for resource in group.resources:
            kind = "/".join(resource.split("/providers/")[-1].split("/")[:2])
            what = f"{kind} {resource.rsplit('/', 1)[-1]} in resource group {group.name}"
            yield Orphan(what=what, remedy=shlex.join(["az", "resource", "delete", "--ids", resource]))
        command = ["az", "group", "delete", "--subscription", subscription_id, "--name", group.name]
        yield Orphan(what=f"resource group {group.name}", remedy=shlex.join(command))


def orphaned(assignments: Sequence[Assignment], principals: Collection[str]) -> Iterator[Orphan]:
    """Role assignments that this program made, told by their names, for identities that no longer exist.

    principals: of the identities that are there.
    """
    for assignment in assignments:
        role = f"/subscriptions/{assignment.scope.split('/')[2]}/providers/{assignment.role.split('/providers/')[-1]}"
        ours = assignment.name == assignment_name(assignment.scope, assignment.principal, role)
        if ours and assignment.principal not in principals:
            what = f"role assignment {assignment.name} on {assignment.scope}, for an identity that no longer exists"
            yield Orphan(what=what, remedy=shlex.join(["az", "role", "assignment", "delete", "--ids", assignment.id]))


def in_cluster(
    namespaces: Sequence[Object],
    nodes: Sequence[Object],
    definitions: Sequence[Object],
    customs: Sequence[Object],
    ours: Sequence[Object],
    kept: Collection[str],
) -> Iterator[Orphan]:
    """The leftovers in a cluster that others own.

    customs: objects of the definitions. ours: what has our label and is in no namespace. kept: keys of labels by which
    the cluster's owner knows the nodes.
    """
    for custom in customs:
        yield from _custom(custom)
    for namespace in namespaces:
        name = namespace["metadata"]["name"]
        if name in NAMESPACES:
            hangs = ", and hangs" if namespace["metadata"].get("deletionTimestamp") else ""
            unless = _UNLESS if name in _OPERATORS and not hangs else ""
            yield Orphan(what=f"namespace {name}{hangs}{unless}", remedy=_kubectl("delete", "namespace", name))
    for document in ours:
        kind, name = document["kind"], document["metadata"]["name"]
        yield Orphan(what=f"{kind} {name}", remedy=_kubectl("delete", kind, name))
    for definition in definitions:
        name = definition["metadata"]["name"]
        yield Orphan(what=f"definition {name}{_UNLESS}", remedy=_kubectl("delete", "crd", name))
    for node in nodes:
        yield from _node(node, kept)


def _kubectl(*words: str) -> str:
    return shlex.join(["kubectl", *words])


def _custom(custom: Object) -> Iterator[Orphan]:
    metadata = custom["metadata"]
    group = custom["apiVersion"].partition("/")[0]
    where = ["--namespace", metadata["namespace"]] if metadata.get("namespace") else []
    words = [f"{custom['kind']}.{group}", metadata["name"], *where]
    target = " ".join(words[:2])
    finalizers = metadata.get("finalizers") or []
    if metadata.get("deletionTimestamp") and _IN_USE in finalizers:
        what = f"{target}, which Kueue keeps while a ClusterQueue names the flavor"
        yield Orphan(what=what, remedy=_kubectl("edit", "clusterqueues.kueue.x-k8s.io"))
    elif metadata.get("deletionTimestamp") and finalizers:
        patch = json.dumps({"metadata": {"finalizers": None}})
        what = f"{target}, which the finalizers {', '.join(finalizers)} hold: their operator is gone"
        yield Orphan(what=what, remedy=_kubectl("patch", *words, "--type", "merge", "--patch", patch))
    else:
        yield Orphan(what=f"{target}{_UNLESS}", remedy=_kubectl("delete", *words))


def _node(node: Object, kept: Collection[str]) -> Iterator[Orphan]:
    name = node["metadata"]["name"]
    labels = [key for key in node["metadata"].get("labels") or {} if key.startswith(_LABELS) and key not in kept]
    if labels:
        what = f"{len(labels)} labels of the operators on node {name}{_UNLESS}"
        yield Orphan(what=what, remedy=_kubectl("label", "node", name, *(f"{key}-" for key in sorted(labels))))
    for taint in (node.get("spec") or {}).get("taints") or []:
        if taint["key"].startswith(_TAINTS):
            there = f"{taint['key']}:{taint['effect']}"
            what = f"taint {there} on node {name}{_UNLESS}"
            yield Orphan(what=what, remedy=_kubectl("taint", "node", name, f"{there}-"))
    yield from _said_of(node)


def _said_of(node: Object) -> Iterator[Orphan]:
    """Notes of the commands and the light check at a node that no program will remove any more."""
    name = node["metadata"]["name"]
    for key, value in (node["metadata"].get("annotations") or {}).items():
        remove = _kubectl("annotate", "node", name, f"{key}-")
        if key == CORDONED:
            what = f"node {name}, cordoned by aks-infiniband validate for {value}"
            yield Orphan(what=what, remedy=f"{_kubectl('uncordon', name)} && {remove}")
        elif key.startswith(_ANNOTATIONS):
            yield Orphan(what=f"annotation {key} on node {name}", remedy=remove)
        elif key.startswith(_OPERATORS_ANNOTATIONS):
            yield Orphan(what=f"annotation {key} on node {name}{_UNLESS}", remedy=remove)
    if any(held["type"] == CONDITION for held in (node.get("status") or {}).get("conditions") or []):
        patch = json.dumps({"status": {"conditions": [{"type": CONDITION, "$patch": "delete"}]}})
        remove = _kubectl("patch", "node", name, "--subresource", "status", "--patch", patch)
        yield Orphan(what=f"condition {CONDITION} on node {name}", remedy=remove)
