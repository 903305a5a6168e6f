"""The marks in the declared documents for values that a values file gives later, and their replacements in a
template.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import Mode
from aks_infiniband.facts.dranet import DEVICE_CLASS
from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.facts.pool import node_term
from aks_infiniband.facts.versions import NCCL_IMAGE, NODE_EXPORTER, RCCL_IMAGE, VALIDATION_IMAGE
from aks_infiniband.observability.documents import GROUPS
from aks_infiniband.operators.offered import FoundPool
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.registry import SOURCES, Registry
from aks_infiniband.validation.reports import board_names

from chart.pools import FEW, Kind

POOL: Final = "xpoolx"
SIZE: Final = "xsizex"
COUNT: Final = 17
"""Nodes of a pool with more than a few. The pods of the pool meet in two ConfigMaps."""
NUMBER: Final = "xnumberx"
"""Stands in a document for that number."""
DIGITS: Final = "xdigitsx"
"""Stands for the same as text."""
SELECTOR: Final = {"x.example/key": "xvaluex"}
_TAINT: Final = "x.example/taint=xtaintx:NoSchedule"
TOLERATIONS: Final = [
    {"key": "x.example/taint", "operator": "Equal", "value": "xtaintx", "effect": "NoSchedule"},
]
CLASS: Final = "xclassx"
MIRROR: Final = "xmirrorx.example"
IMAGE: Final = f"{MIRROR}/ximagex"
"""The image that a values file names; it is taken as it stands."""
PULL_SECRETS: Final = [{"name": "xsecretx"}]
SCHEDULE: Final = "7 7 7 7 6"
LABELS: Final = {"x.example/label": "xlabelx"}
"""Labels by which a Prometheus selects its monitors."""
BOARDS: Final = "xboardsx:"
"""Stands before the name of a ConfigMap in which the pods of a pool meet; a large pool has several."""
REGISTRY: Final = Registry(images=MIRROR, pull_secret="xsecretx")  # noqa: S106  no secret

IMAGES: Final = {
    REGISTRY.image(image): SOURCES.image(image)
    for image in (VALIDATION_IMAGE, NCCL_IMAGE, RCCL_IMAGE, NODE_EXPORTER.reference)
}
"""By each image's place in a registry that mirrors it, its place at its maker's."""
_OF_POOL: Final = "$context.pool"
FLOWS: Final[tuple[tuple[Any, str], ...]] = (
    (SELECTOR, f"{_OF_POOL}.nodeSelector | toJson"),
    (TOLERATIONS, f'include "tolerations" {_OF_POOL}'),
    (PULL_SECRETS, 'include "pullSecrets" $root'),
)
"""Values, and what makes the value in their place, as JSON."""
MATCH: Final = node_term(SELECTOR)["matchExpressions"][0]
MATCHES: Final = f'include "matches" {_OF_POOL}'
"""The template that makes, as JSON, all the items that are in a list in the place of MATCH."""
ATOMS: Final = (*(value for value, _ in FLOWS), MATCH)
"""Values that are replaced as a whole."""
WORDS: Final[tuple[tuple[str, str], ...]] = (
    (f'"{NUMBER}"', f"{_OF_POOL}.count | toString"),
    (DIGITS, f"{_OF_POOL}.count | toString"),
    ("=".join(*SELECTOR.items()), f'include "selector" {_OF_POOL}'),
    (POOL, f"{_OF_POOL}.name"),
    (SIZE, f"{_OF_POOL}.vmSize"),
    (CLASS, f"{_OF_POOL}.deviceClass"),
    (SCHEDULE, "$root.Values.lightCheck.schedule"),
    (SYSTEM_NAMESPACE, "$root.Release.Namespace"),
    (IMAGE, "$root.Values.validation.image"),
    *((mirrored, f'include "image" (list $root "{mirrored}" "{source}")') for mirrored, source in IMAGES.items()),
    *((access.resource, f"{_OF_POOL}.rdmaResource") for access in ACCESS.values() if access.resource),
    *((group, 'include "monitors" $root') for group in GROUPS.values()),
)
"""Words within texts, and what a template has in the place of each."""


@dataclass(frozen=True)
class Parsed:
    """A text of JSON, as its value."""

    value: Any


def as_json(value: Any) -> str:
    """A value as JSON, as marks are found in it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def text_marks() -> list[tuple[str, str]]:
    """Everything that may stand in JSON text, the longest first."""
    marks = [*((as_json(value), made) for value, made in FLOWS), (as_json(MATCH), MATCHES), *WORDS]
    unique = dict(marks)
    return sorted(unique.items(), key=lambda mark: -len(mark[0]))


def pool(kind: Kind, name: str) -> FoundPool:
    """A pool that stands for every pool of a kind."""
    return FoundPool(
        name=name,
        size=SIZES[kind.like],
        node_count=FEW if kind.count == "few" else COUNT,
        mode=cast("Mode", kind.mode),
        nic_driver=kind.nic,  # type: ignore[arg-type]
        gpu_driver="operator" if kind.gpus == "offered" else "none",
        resource=ACCESS[cast("Mode", kind.mode)].resource,
        device_class=DEVICE_CLASS if kind.classes == "own" else CLASS,
        nvlink=False,
        taints=(_TAINT,),
        node_selector=SELECTOR,
    )


def marked(document: Any, kind: Kind, reports: Iterable[str]) -> Any:
    """A declared document with a mark for the size, for each number of nodes, and for the ConfigMaps of a report."""
    if isinstance(document, Parsed):
        return Parsed(marked(document.value, kind, reports))
    if isinstance(document, dict):
        return {key: marked(value, kind, reports) for key, value in document.items()}
    if isinstance(document, list):
        return _marked_items(document, kind, reports)
    if document == kind.like:
        return SIZE
    counts = {} if kind.count == "few" or isinstance(document, bool) else {COUNT: NUMBER, str(COUNT): DIGITS}
    return counts.get(document, document)


def _marked_items(items: list[Any], kind: Kind, reports: Iterable[str]) -> list[Any]:
    if len(items) > 1 and kind.like in items:
        return items  # the sizes of which a figure was published
    for report in reports:
        items = _with_one_board(items, report)
    return [marked(item, kind, reports) for item in items]


def _with_one_board(items: list[Any], report: str) -> list[Any]:
    first, *others = board_names(report, COUNT)
    names = [item for item in items if isinstance(item, str)]
    if not set(others) <= set(names):
        return items
    return [f"{BOARDS}{item}" if item == first else item for item in items if item not in others]
