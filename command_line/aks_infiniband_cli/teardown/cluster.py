"""Reads the leftovers in a cluster that others own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.resources.metadata import GPU_OPERATOR_NAMESPACE, NETWORK_OPERATOR_NAMESPACE, PART_OF
from aks_infiniband.workload.scheduling import GROUPS as GROUPS_OF_SCHEDULERS
from aks_infiniband.workload.scheduling import KINDS
from lightkube import Client
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.admissionregistration_v1 import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import Namespace, Node
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from aks_infiniband_cli.cluster import connected
from aks_infiniband_cli.teardown.left import GROUPS, Object, Orphan, in_cluster, stack_in

_IN_NO_NAMESPACE: Final[tuple[Any, ...]] = (
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ClusterRoleBinding,
    ClusterRole,
)
"""The kinds of what the program makes outside of every namespace, what refers before what is referred to."""


_TOLD_TO_SCHEDULERS: Final = frozenset(
    f"{plural}.{GROUPS_OF_SCHEDULERS[scheduler].partition('/')[0]}"
    for scheduler, kinds in KINDS.items()
    for plural in kinds.values()
)
"""Names of definitions that others have brought, and of which the program makes objects."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The parts of an operator that others keep, and of its Node Feature Discovery, in a cluster."""

    namespace: str
    groups: frozenset[str]
    """Groups of its definitions."""
    labels: tuple[str, ...]
    """Prefixes of its labels and taints of nodes."""
    annotations: tuple[str, ...]


GPU_OPERATOR: Final = Kept(
    namespace=GPU_OPERATOR_NAMESPACE,
    groups=frozenset({"nvidia.com", "nfd.k8s-sigs.io", "resource.nvidia.com"}),
    labels=("nvidia.com/", "feature.node.kubernetes.io/"),
    annotations=("nvidia.com/gpu-",),
)
NETWORK_OPERATOR: Final = Kept(
    namespace=NETWORK_OPERATOR_NAMESPACE,
    groups=frozenset({"mellanox.com", "nv-ipam.nvidia.com", "nfd.k8s-sigs.io", "k8s.cni.cncf.io"}),
    labels=("network.nvidia.com/", "nvidia.com/ofed-", "feature.node.kubernetes.io/"),
    annotations=("nvidia.com/ofed-",),
)


def left_in(kubeconfig: str, kept: Iterable[str], *, theirs: Sequence[Kept] = ()) -> tuple[str | None, list[Orphan]]:
    """The sign that the stack lives, and the leftovers. Raises what lightkube raises.

    kept: keys of labels by which the cluster's owner knows the nodes. theirs: operators of others; their objects are
    not left over.
    """
    client = connected(kubeconfig)
    listed = [found.to_dict() for found in client.list(CustomResourceDefinition)]
    groups = GROUPS.difference(*(operator.groups for operator in theirs))
    definitions = [found for found in listed if found["spec"]["group"] in groups]
    customs = [custom for definition in definitions for custom in _customs(client, definition)]
    schedulers = [found for found in listed if found["metadata"]["name"] in _TOLD_TO_SCHEDULERS]
    customs += labelled([custom for found in schedulers for custom in _customs(client, found)], PART_OF)
    namespaces = [found.to_dict() for found in client.list(Namespace)]
    places = {operator.namespace for operator in theirs}
    namespaces = [found for found in namespaces if found["metadata"]["name"] not in places]
    selector: Any = PART_OF
    ours = [
        {**found.to_dict(), "kind": kind.__name__}
        for kind in _IN_NO_NAMESPACE
        for found in client.list(kind, labels=selector)
    ]
    nodes = [found.to_dict() for found in client.list(Node)]
    for operator in theirs:
        nodes = [_without_theirs(node, operator) for node in nodes]
    found = in_cluster(namespaces, nodes, definitions, customs, ours, frozenset(kept))
    return stack_in(namespaces, customs), list(found)


def _without_theirs(node: dict[str, Any], theirs: Kept) -> dict[str, Any]:
    """A node without what an operator of others and its discovery have put there."""
    metadata, spec = node["metadata"], node.get("spec") or {}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if not key.startswith(theirs.labels)}
    said = metadata.get("annotations") or {}
    annotations = {key: value for key, value in said.items() if not key.startswith(theirs.annotations)}
    taints = [taint for taint in spec.get("taints") or [] if not taint["key"].startswith(theirs.labels)]
    own = {**metadata, "labels": labels, "annotations": annotations}
    return {**node, "metadata": own, "spec": {**spec, "taints": taints}}


def _customs(client: Client, definition: Object) -> list[Object]:
    """The objects of a definition, in all namespaces."""
    spec, names = definition["spec"], definition["spec"]["names"]
    version = next(each["name"] for each in spec["versions"] if each["served"])
    namespaced = spec["scope"] == "Namespaced"
    create: Any = create_namespaced_resource if namespaced else create_global_resource
    kind = create(spec["group"], version, names["kind"], names["plural"])
    objects = client.list(kind, namespace="*") if namespaced else client.list(kind)
    named = {"apiVersion": f"{spec['group']}/{version}", "kind": names["kind"]}
    return [{**each.to_dict(), **named} for each in objects]
