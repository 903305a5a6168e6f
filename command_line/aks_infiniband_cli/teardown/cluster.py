"""Reads what is left in a cluster that somebody else owns."""

from collections.abc import Iterable
from typing import Any, Final

from aks_infiniband.resources.metadata import PART_OF
from lightkube import Client
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.admissionregistration_v1 import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import Namespace, Node
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from aks_infiniband_cli.cluster import connected
from aks_infiniband_cli.teardown.left import GROUPS, Object, Orphan, in_cluster

_IN_NO_NAMESPACE: Final[tuple[Any, ...]] = (
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ClusterRoleBinding,
    ClusterRole,
)
"""The kinds of what the program makes outside of every namespace, what refers before what is referred to."""


def left_in(kubeconfig: str, kept: Iterable[str]) -> list[Orphan]:
    """What is left; kept: keys of labels by which the cluster's owner knows the nodes. Raises what lightkube raises."""
    client = connected(kubeconfig)
    listed = [found.to_dict() for found in client.list(CustomResourceDefinition)]
    definitions = [found for found in listed if found["spec"]["group"] in GROUPS]
    customs = [custom for definition in definitions for custom in _customs(client, definition)]
    namespaces = [found.to_dict() for found in client.list(Namespace)]
    labelled: Any = PART_OF
    ours = [
        {**found.to_dict(), "kind": kind.__name__}
        for kind in _IN_NO_NAMESPACE
        for found in client.list(kind, labels=labelled)
    ]
    nodes = [found.to_dict() for found in client.list(Node)]
    return list(in_cluster(namespaces, nodes, definitions, customs, ours, frozenset(kept)))


def _customs(client: Client, definition: Object) -> list[Object]:
    """The objects of a definition, in all namespaces."""
    spec, names = definition["spec"], definition["spec"]["names"]
    version = next(each["name"] for each in spec["versions"] if each["served"])
    namespaced = spec["scope"] == "Namespaced"
    create: Any = create_namespaced_resource if namespaced else create_global_resource
    kind = create(spec["group"], version, names["kind"], names["plural"])
    found = client.list(kind, namespace="*") if namespaced else client.list(kind)
    named = {"apiVersion": f"{spec['group']}/{version}", "kind": names["kind"]}
    return [{**each.to_dict(), **named} for each in found]
