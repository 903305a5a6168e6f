"""The objects of a run in a cluster without a stack, as plain documents: a namespace, and in it what a stack would
have.

All of it bears the run's name, and is the namespace's: what reaches beyond it names the namespace as its owner, so
Kubernetes deletes it with the namespace.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.namespaces import namespace_of_ours
from aks_infiniband.validation.access_documents import SharedAccess

from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.documents import MANAGER

PART: Final = "one-run"
"""The part that such a namespace plays, in its labels."""
LEASE: Final = "run"
"""Name of the Lease by which other commands see that the run is alive."""
LEASE_SECONDS: Final = 30
"""A run whose Lease is not renewed for as long was killed."""
_RUN: Final = "aks-infiniband/run"
"""Annotation of all that a run makes: its namespace."""
_PREFIX: Final = "aks-infiniband-run-"
_NAME: Final = re.compile(rf"{_PREFIX}[0-9a-f]{{8}}")
LABELS: Final = {**labels("aks-infiniband", PART), "app.kubernetes.io/managed-by": MANAGER}
"""Labels of every namespace that a run has made."""


def _name() -> str:
    return f"{_PREFIX}{secrets.token_hex(4)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Brought:
    """All objects that one run brings, without its Jobs and what they own."""

    access: SharedAccess | None = None
    """The program and its rights; None for a run that needs neither."""
    name: str = field(default_factory=_name)
    """Name of the namespace. The name is new, so nothing can be there by it."""

    @property
    def namespace(self) -> dict[str, Any]:
        """The namespace."""
        return self._marked(namespace_of_ours(self.name, PART))

    def lease(self, now: str) -> dict[str, Any]:
        """The Lease, renewed at a moment (ISO 8601, with microseconds)."""
        spec = {"holderIdentity": self.name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now}
        metadata = {"name": LEASE, "namespace": self.name}
        document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        return self._marked(document)

    def contents(self, uid: str) -> list[dict[str, Any]]:
        """The objects that are made before the Jobs. uid: the namespace's."""
        if self.access is None:
            return []
        shared = self.access
        inside = [shared.service_account(), shared.program_map(), *shared.claims()]
        return [*map(self._marked, inside), *(self._owned(each, uid) for each in shared.reads_nodes())]

    def _owned(self, document: Mapping[str, Any], uid: str) -> dict[str, Any]:
        marked = self._marked(document)
        owner = {"apiVersion": "v1", "kind": "Namespace", "name": self.name, "uid": uid}
        return {**marked, "metadata": {**marked["metadata"], "ownerReferences": [owner]}}

    def _marked(self, document: Mapping[str, Any]) -> dict[str, Any]:
        metadata = document["metadata"]
        marks = {**(metadata.get("labels") or LABELS), "app.kubernetes.io/managed-by": MANAGER}
        return {**document, "metadata": {**metadata, "labels": marks, "annotations": {_RUN: self.name}}}


def is_of_a_run(document: Object) -> bool:
    """True if an object proves that a run has made it: by its labels, and by the run that it names, which for a
    namespace is itself.
    """
    metadata = document["metadata"]
    run = str((metadata.get("annotations") or {}).get(_RUN))
    place = metadata.get("namespace") or metadata["name"]
    ours = (metadata.get("labels") or {}).get("app.kubernetes.io/managed-by") == MANAGER
    return ours and run == place and _NAME.fullmatch(run) is not None
