"""Documents that our commands keep in a cluster, each in a ConfigMap of the validations' namespace.

No workload has a right there. But a person may have edited one, or another release may have written it, so what is read
back is held against its form. A reader reports what cannot be read, and continues without it. A writer sets it aside
before, in a separate ConfigMap, and never overwrites another release's document.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.payload.report.standing import RECORD, RECORD_KEY, RECORD_VERSION
from aks_infiniband.validation.payload.talk.config_maps import object_in, texts_of

MOST_BYTES: Final = 900_000
"""Size of a document as it is kept: a ConfigMap holds 1 MiB (Kubernetes, "ConfigMaps")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """One such document: what it is in words, its ConfigMap and the key there, and the version of its form."""

    what: str
    name: str
    key: str
    version: int
    labels: Mapping[str, str]


MACHINES: Final = Kept(
    what="the record of the machines",
    name=RECORD,
    key=RECORD_KEY,
    version=RECORD_VERSION,
    labels={**labels("machines", "record"), "app.kubernetes.io/managed-by": "aks-infiniband"},
)
REPLACED: Final = Kept(
    what="the history of replaced machines",
    name="replaced-machines",
    key="cases.json",
    version=1,
    labels={**labels("replace", "history"), "app.kubernetes.io/managed-by": "aks-infiniband-replace"},
)
ALL: Final = (MACHINES, REPLACED)
"""Every document that is kept."""


class OtherReleaseError(HandwrittenError):
    """Another release has written it, and only that one may change it."""


class _Versioned(Form):
    schema_version: int


def document_in(kept: Kept, config_map: Mapping[str, Any]) -> dict[str, Any] | None:
    """The document that a ConfigMap holds; None if it holds none yet.

    Raises HandwrittenError for what is none, and OtherReleaseError for one with another version.
    """
    text = texts_of(config_map).get(kept.key)
    if not text and kept.key not in (config_map.get("binaryData") or {}):
        return None
    document: Any = object_in(text)
    version = formed(_Versioned, document).schema_version
    if version != kept.version:
        reason = f"is {version}, and this release reads {kept.version}: use the release that wrote it"
        raise OtherReleaseError(reason, ("schema_version",))
    return dict(document)


def where(kept: Kept) -> str:
    """Its place, in words."""
    return f"{kept.what}, key {kept.key} of ConfigMap {kept.name}"


def aside(kept: Kept, config_map: Mapping[str, Any]) -> dict[str, Any]:
    """The ConfigMap into which a document is set aside, as it is: the same one for the same content.

    Without the namespace.
    """
    content = {key: config_map[key] for key in ("data", "binaryData") if config_map.get(key)}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
    metadata = {"name": f"{kept.name}-unreadable-{digest}", "labels": dict(kept.labels)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **content}
