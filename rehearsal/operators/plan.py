"""A reconcile's view and its wishes: plain documents in, plain documents out."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Document = dict[str, Any]
"""A Kubernetes object as its JSON says it."""

DIGEST: Final = "rehearsal.aks-infiniband/applied"
"""Annotation with the digest of the document as last applied; the real operators keep a similar one."""


@dataclass(frozen=True)
class Snapshot:
    """The objects of a cluster, by kind, as they were at one moment."""

    kinds: Mapping[str, Sequence[Document]]

    def of(self, kind: str, *, labels: Mapping[str, str] | None = None, namespace: str | None = None) -> list[Document]:
        """Objects of a kind that carry all these labels, in one namespace or all."""
        return [
            item
            for item in self.kinds.get(kind, ())
            if namespace in {None, item["metadata"].get("namespace")}
            and (labels or {}).items() <= labels_of(item).items()
        ]

    def find(self, kind: str, name: str, namespace: str | None = None) -> Document | None:
        """The object of this name, or None."""
        named = [item for item in self.of(kind, namespace=namespace) if item["metadata"]["name"] == name]
        return named[0] if named else None

    def holds(self, document: Document) -> bool:
        """True if the cluster has the document unchanged since it was sealed."""
        metadata = document["metadata"]
        here = self.find(document["kind"], metadata["name"], metadata.get("namespace"))
        return here is not None and annotation(here, DIGEST) == annotation(document, DIGEST)


@dataclass(kw_only=True)
class Plan:
    """The cluster as a reconcile wants it. Only what differs from the snapshot has to be done."""

    objects: list[Document] = field(default_factory=list)
    """Applied by server-side apply, in order."""
    deletions: list[Document] = field(default_factory=list)
    """Objects of the snapshot that have to go."""
    evictions: list[Document] = field(default_factory=list)
    """Pods of the snapshot that have to leave their node."""
    node_labels: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """By node name and label, the value; None removes the label."""
    node_annotations: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """By node name and annotation, the value; None removes the annotation."""
    cordons: dict[str, bool] = field(default_factory=dict)
    """Node name -> whether it is unschedulable."""
    finalizers: list[tuple[Document, list[str]]] = field(default_factory=list)
    """Object of the snapshot, and all of the finalizers that it is left with."""
    annotations: list[tuple[Document, dict[str, str]]] = field(default_factory=list)
    """Object of the snapshot, and all of the annotations that it is left with."""
    statuses: list[tuple[Document, Document]] = field(default_factory=list)
    """Object of the snapshot, and the status that it should have."""

    def label(self, node: Document, labels: Mapping[str, str | None]) -> None:
        """Request labels on a node; those that it carries already are left out."""
        has = labels_of(node)
        changed = {key: value for key, value in labels.items() if has.get(key) != value}
        if changed:
            self.node_labels.setdefault(node["metadata"]["name"], {}).update(changed)

    def annotate(self, node: Document, annotations: Mapping[str, str | None]) -> None:
        """Request annotations on a node; those that it carries already are left out."""
        changed = {key: value for key, value in annotations.items() if annotation(node, key) != value}
        if changed:
            self.node_annotations.setdefault(node["metadata"]["name"], {}).update(changed)

    def set_status(self, document: Document, status: Document) -> None:
        """Request a status; none is written when the document has it."""
        if document.get("status") != status:
            self.statuses.append((document, status))

    def include(self, documents: Iterable[Document], snapshot: Snapshot) -> None:
        """Request sealed documents; those that the cluster holds are left out."""
        self.objects.extend(document for document in documents if not snapshot.holds(document))


def labels_of(document: Document) -> dict[str, str]:
    """Labels of an object; none is an empty mapping."""
    return document["metadata"].get("labels") or {}


def annotation(document: Document, name: str) -> str | None:
    """Value of an annotation, or None."""
    value: str | None = (document["metadata"].get("annotations") or {}).get(name)
    return value


def owned(
    document: Document, owner: Document, *, namespace: str | None = None, labels: Mapping[str, str] | None = None
) -> Document:
    """The document with an owner reference, so that it is deleted with its owner, and with its own digest."""
    metadata = dict(document["metadata"])
    if namespace is not None:
        metadata["namespace"] = namespace
    metadata["labels"] = {**(metadata.get("labels") or {}), **(labels or {})}
    metadata["ownerReferences"] = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    return sealed({**document, "metadata": metadata})


def sealed(document: Document) -> Document:
    """The document with its digest as an annotation."""
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
    metadata = document["metadata"]
    return {
        **document,
        "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), DIGEST: digest}},
    }


def without_empty(document: Document) -> Document:
    """The mapping without keys whose value is None, empty text, an empty list or an empty mapping."""
    return {key: value for key, value in document.items() if value not in (None, "", [], {})}
