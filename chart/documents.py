"""The chart's documents as trees: those of a pool, and those that all pools share."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from aks_infiniband.light_check.documents import NAME as LIGHT_CHECK
from aks_infiniband.validation.job_parts import report_name
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.reports import board_names

from chart import sentinels
from chart.common import ABSENT, EachPool, Fields, Items, Json, Literal, Node, Slot, common
from chart.declaring import Asked, Part, declared
from chart.pools import Kind
from chart.sentinels import COUNT, POOL, Parsed

_NAME: Final = re.compile(r"q\d{4}x")
"""Pools of a run, one for each kind."""
_HASH: Final = re.compile(rf"({POOL}-validate)-[0-9a-f]{{8}}")


class Key(NamedTuple):
    """Names a document."""

    kind: str
    name: str
    namespace: str


@dataclass(frozen=True)
class OfPools:
    """A document that each pool has, or each of these kinds."""

    key: Key
    tree: Node
    there: Slot | None
    """For which kinds; None for all."""


@dataclass(frozen=True)
class Shared:
    """A document that all pools share."""

    key: Key
    tree: Node
    only: str | None = None
    """The Prometheus that alone has it."""


def reports(pool: str) -> list[str]:
    """The first of the ConfigMaps in which the pods of a pool meet."""
    any_pool = sentinels.pool(Kind(like="Standard_HB176rs_v4", mode="rdma-shared", nic="inbox", gpus="none"), pool)
    return [report_name(any_pool), f"{pool}-{LIGHT_CHECK}"]


REPORTS: Final = reports(POOL)
"""The reports of the pool that stands for every pool."""
_FURTHER: Final = {name for report in REPORTS for name in board_names(report, COUNT)[1:]}


def validation(kinds: Sequence[Kind]) -> list[OfPools | Shared]:
    """The documents of the validation."""
    objects: dict[Key, dict[Kind, Any]] = {}
    shared: list[Shared] = []
    for verdict, image in (("enforce", "default"), ("enforce", "given"), ("warn", "default")):
        options: dict[str, Any] = {"mode": verdict, "image": sentinels.IMAGE if image == "given" else None}
        judged = [kind for kind in kinds if (kind.verdict, kind.image) == (verdict, image)]
        for_pools, for_all = _run("validation", judged, Asked(validation=ValidationOptions(**options)))
        for key, by_kind in for_pools.items():
            objects.setdefault(key, {}).update(by_kind)
        shared = shared or for_all
    return [*shared, *_of_pools(objects)]


def of_part(part: Part, kinds: Sequence[Kind]) -> list[OfPools | Shared]:
    """The documents of another part."""
    if part == "lightCheck":
        kinds = [kind for kind in kinds if kind.mode != "driver-only"]
    kinds = [kind for kind in kinds if (kind.verdict, kind.image) == ("enforce", "default")]
    asked = Asked(schedule=sentinels.SCHEDULE, labels=sentinels.LABELS)
    by_kind, shared = _run(part, kinds, asked)
    if part == "observability":
        _, of_azure = _run(part, kinds[:2], replace(asked, prometheus="azure"))
        there = {each.key for each in of_azure}
        shared = [each if each.key in there else replace(each, only="kube-prometheus") for each in shared]
    return [*shared, *_of_pools(by_kind)]


def _of_pools(by_key: Mapping[Key, Mapping[Kind, Any]]) -> list[OfPools | Shared]:
    every = {kind for by_kind in by_key.values() for kind in by_kind}

    def there(by_kind: Mapping[Kind, Any]) -> Slot | None:
        return Slot({kind: kind in by_kind or ABSENT for kind in every}) if by_kind.keys() != every else None

    return [OfPools(key, common(by_kind), there(by_kind)) for key, by_kind in by_key.items()]


def _run(part: Part, kinds: Sequence[Kind], asked: Asked) -> tuple[dict[Key, dict[Kind, Any]], list[Shared]]:
    """The declarations for these kinds. The shared documents are those of the kinds with more than a few nodes."""
    of_pools: dict[Key, dict[Kind, Any]] = {}
    shared: list[Shared] = []
    for count in ("more", "few"):
        named = {f"q{at:04}x": kind for at, kind in enumerate(kinds) if kind.count == count}
        pools = [sentinels.pool(kind, name) for name, kind in named.items()]
        for document in declared(part, pools, replace(asked, registry=sentinels.REGISTRY)):
            owners = set(_NAME.findall(document["metadata"]["name"]))
            if owners:
                (name,) = owners
                own = _own(document, name, named[name])
                if own["metadata"]["name"] not in _FURTHER:
                    of_pools.setdefault(_key(own), {})[named[name]] = own
            elif count == "more":
                shared.append(Shared(_key(document), _across(document, named)))
    return of_pools, shared


def _key(document: Mapping[str, Any]) -> Key:
    metadata = document["metadata"]
    return Key(document["kind"], metadata["name"], metadata.get("namespace", ""))


def _own(value: Any, name: str, kind: Kind) -> Any:
    """The declarations for a pool of a kind, as for every pool of it."""
    text = _HASH.sub(r"\1", json.dumps(value).replace(name, POOL))
    return sentinels.marked(_parsed(json.loads(text)), kind, REPORTS)


def _parsed(value: Any) -> Any:
    """A value with those texts parsed that are JSON and name a pool."""
    if isinstance(value, dict):
        return {key: _parsed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_parsed(item) for item in value]
    if isinstance(value, str) and value.startswith(("{", "[")) and (POOL in value or _NAME.search(value)):
        return Parsed(json.loads(value))
    return value


def _across(value: Any, named: Mapping[str, Kind]) -> Node:
    """The tree of a document that all pools share."""
    value = _parsed(value) if isinstance(value, str) else value
    if isinstance(value, Parsed):
        return Json(_across(value.value, named))
    if value in sentinels.ATOMS or not isinstance(value, dict | list) or not value:
        return Literal(value)
    if isinstance(value, dict):
        return _fields_across(value, named)
    before, after, by_pool = _sorted_out(value)
    if not by_pool:
        return Items([_across(item, named) for item in value])
    own = {named[name]: _own(items, name, named[name]) for name, items in by_pool.items()}
    (length,) = {len(items) for items in own.values()}
    each = EachPool([common({kind: items[at] for kind, items in own.items()}) for at in range(length)])
    return Items([*(_across(item, named) for item in before), each, *(_across(item, named) for item in after)])


def _sorted_out(items: Iterable[Any]) -> tuple[list[Any], list[Any], dict[str, list[Any]]]:
    """Items before and after those that name exactly one pool; and these, by pool."""
    before, after, by_pool = list[Any](), list[Any](), dict[str, list[Any]]()
    for item in items:
        owners = set(_NAME.findall(json.dumps(item)))
        if len(owners) == 1:
            by_pool.setdefault(owners.pop(), []).append(item)
        else:
            (after if by_pool else before).append(item)
    return before, after, by_pool


def _fields_across(value: Mapping[str, Any], named: Mapping[str, Kind]) -> Node:
    fields: dict[str, Node] = {}
    by_key: dict[str, dict[Kind, Any]] = {}
    for key, item in value.items():
        owners = _NAME.findall(key)
        if owners:
            (name,) = owners
            by_key.setdefault(key.replace(name, POOL), {})[named[name]] = _own(item, name, named[name])
        else:
            fields[key] = _across(item, named)
    for key, by_kind in by_key.items():
        fields[key] = EachPool([common(by_kind)], keys=[key])
    return Fields(fields)
