"""A cluster as it was read once: the diagnosis's view of it, and what only the doctor looks at. Plain documents."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.diagnosis.ownership import images_of
from aks_infiniband.diagnosis.view import Object, View, name_of
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE

_LISTS: Final = {
    "Node": "nodes",
    "Pod": "pods",
    "DaemonSet": "daemon_sets",
    "Deployment": "deployments",
    "Job": "jobs",
    "ConfigMap": "config_maps",
    "NicClusterPolicy": "policies",
    "NicNodePolicy": "policies",
    "ClusterPolicy": "policies",
    "IPoIBNetwork": "networks",
    "IPPool": "networks",
    "Event": "events",
    "Secret": "release_secrets",
}
"""The view's list of each kind; objects of other kinds are the doctor's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A cluster at one moment."""

    read_at: datetime
    """When it was read, with its time zone."""
    view: View
    """The part that the diagnosis of a failed wait looks at too."""
    others: list[Object] = field(default_factory=list)
    """Objects of the other kinds, such as Namespaces, ResourceQuotas and the configurations of webhooks."""
    undefined: list[str] = field(default_factory=list)
    """Kinds that the API server does not know."""
    validations_in: str = SYSTEM_NAMESPACE
    """Namespace of the program's validations. In other namespaces every user may have written a report."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Snapshot":
        """The snapshot of a document: `read_at` (ISO 8601), `objects`, `logs`, and `undefined`."""
        read_at = datetime.fromisoformat(document["read_at"])
        snapshot = cls(
            read_at=read_at if read_at.tzinfo else read_at.replace(tzinfo=UTC),
            view=View(logs=dict(document.get("logs") or {})),
            undefined=list(document.get("undefined") or []),
        )
        for item in document["objects"]:
            snapshot.list_of(item["kind"]).append(item)
        return snapshot

    def list_of(self, kind: str) -> list[Object]:
        """The list that holds the objects of a kind, among others."""
        objects: list[Object] = getattr(self.view, _LISTS[kind]) if kind in _LISTS else self.others
        return objects

    def objects(self) -> Iterator[Object]:
        """Every object."""
        for name in dict.fromkeys(_LISTS.values()):
            yield from getattr(self.view, name)
        yield from self.others

    def of_kind(self, *kinds: str) -> list[Object]:
        """The objects of some kinds."""
        return [item for item in self.objects() if item.get("kind") in kinds]

    def was_read(self, *lists: str) -> bool:
        """True if lists could be read, such as Deployments. Otherwise missing objects are unknown."""
        return not any(reason.startswith(f"{name}:") for reason in self.view.unread for name in lists)

    def webhook_services(self) -> Iterator[tuple[Object, Object, Mapping[str, Any]]]:
        """The webhooks that a service in the cluster answers: configuration, webhook and service."""
        for configuration in self.of_kind("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
            for webhook in configuration.get("webhooks") or []:
                if service := (webhook.get("clientConfig") or {}).get("service"):
                    yield configuration, webhook, service

    def nodes_of(self, about: str) -> frozenset[str]:
        """The nodes that a finding about an object concerns; empty for one that may concern any.

        about: kind and name of the object.
        """
        kind, _, name = about.partition(" ")
        if kind == "node":
            return frozenset([name])
        if kind == "pod":
            placed = (pod["spec"].get("nodeName") for pod in self.view.pods if name_of(pod) == name)
            return frozenset(node for node in placed if node)
        return frozenset()


def labels_of(item: Object) -> Mapping[str, str]:
    """An object's labels."""
    labels: Mapping[str, str] = item["metadata"].get("labels") or {}
    return labels


def info_of(node: Object) -> Mapping[str, Any]:
    """A node's own words on its system."""
    info: Mapping[str, Any] = (node.get("status") or {}).get("nodeInfo") or {}
    return info


def offered_by(node: Object) -> Mapping[str, Any]:
    """The resources that a node offers to pods."""
    offered: Mapping[str, Any] = (node.get("status") or {}).get("allocatable") or {}
    return offered


def image_names_of(workload: Object) -> set[str]:
    """The names of the images, without registry, tag and digest."""
    return {re.split("[:@]", image)[0] for image in images_of(workload)}
