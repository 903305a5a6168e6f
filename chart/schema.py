"""The schema of the chart's values, made from that of stack files: same keys, types, bounds and texts."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES

from chart.pools import FEW, MODES
from pages.schema import stack_file_schema

_OF_POOL: Final = ("name", "vmSize", "count", "mode", "nicDriver", "gpuDriver", "taints", "nodeSelector")
_TEXTS: Final = {
    "rdmaResource": "The extended resource under which a device plugin offers the HCAs. Default: rdma/shared_ib in "
    "mode rdma-shared, rdma/ib in mode sriov.",
    "deviceClass": "In mode dra, the DeviceClass of the claims. Default: infiniband.dra.net.",
    "again": "Any text. If it changes, the pools are measured again, though nothing else has changed.",
    "pullSecret": "Name of a Secret in the release's namespace with which pods pull their images.",
    "mode": "How pods get InfiniBand. Default: rdma-shared. A pool in mode ipoib is measured as rdma-shared.",
    "count": "Number of nodes; of an autoscaled pool the smallest number.",
    "nodeSelector": "Labels that the pool's nodes, and no others, carry. Default: AKS's own label of an agent pool.",
    "nicDriver": "In mode driver-only: doca-ofed waits for the Network Operator's driver on each node. Default: inbox "
    "for GB200 and GB300, and doca-ofed for all other sizes.",
    "gpuDriver": "none: the GPUs are not measured. Any other: a device plugin offers them. Default: operator for "
    "NVIDIA's GPUs, none for AMD's and for sizes without GPUs.",
}
"""Keys that a stack file does not have, and those of which a chart, which installs nothing, says less."""
_LOOKAHEAD: Final = re.compile(r"\(\?=")


def values_schema() -> dict[str, Any]:
    """The schema of values.yaml."""
    definitions = stack_file_schema()["definitions"]
    of_pool = _picked(definitions["PoolSettings"], _OF_POOL)
    (label_key,) = of_pool["nodeSelector"]["patternProperties"]
    name = {"type": "string", "pattern": label_key}
    of_pool |= {
        "vmSize": {"enum": sorted(SIZES), "description": "The size of all machines of the pool."},
        "count": {**of_pool["count"], "minimum": FEW},
        "mode": {**of_pool["mode"], "enum": list(MODES)},
        "rdmaResource": dict(name),
        "deviceClass": dict(name),
    }
    validation = {**_picked(definitions["ValidationOptions"], ("mode", "image")), "again": {"type": "string"}}
    registry = {**_picked(definitions["RegistrySettings"], ("images",)), "pullSecret": dict(name)}
    watched = _section(_picked(definitions["ObservabilitySettings"], ("prometheus", "labels")), ["prometheus"])
    light = _section(_picked(definitions["LightCheckSettings"], ("schedule",)), ["schedule"])
    properties = {
        "pools": {
            "type": "array",
            "minItems": 1,
            "description": "The pools to measure.",
            "items": _section(of_pool, ["name", "vmSize", "count"]),
        },
        "validation": _section(validation),
        "lightCheck": {
            **light,
            "type": ["object", "null"],
            "description": "Left out, nothing is checked on a schedule.",
        },
        "observability": {**watched, "type": ["object", "null"], "description": "Left out, there are no monitors."},
        "registry": _section(registry),
        "global": {"type": "object", "description": "Helm's own; nothing here reads it."},
    }
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", **_section(properties, ["pools"])}
    return {**schema, "title": "Values of the chart aks-infiniband-checks"}


def _picked(definition: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: _for_go(definition["properties"][key]) for key in keys}


def _section(properties: Mapping[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    described = {
        key: {**value, "description": _TEXTS[key]} if key in _TEXTS and "description" not in value else value
        for key, value in properties.items()
    }
    schema = {"type": "object", "additionalProperties": False, "properties": described}
    return {**schema, "required": list(required)} if required else schema


def _for_go(node: Any) -> Any:
    """A schema whose patterns Go's regular expressions read: they know no lookahead. Here each limits a length, or says
    how a host looks, which the API server says too.
    """
    if isinstance(node, list):
        return [_for_go(item) for item in node]
    if isinstance(node, dict):
        return {_without_lookaheads(str(key)): _for_go(value) for key, value in node.items()}
    return _without_lookaheads(node) if isinstance(node, str) else node


def _without_lookaheads(pattern: str) -> str:
    while begin := _LOOKAHEAD.search(pattern):
        depth, end = 0, begin.start()
        while True:
            depth += {"(": 1, ")": -1}.get(pattern[end], 0)
            end += 1
            if depth == 0:
                break
        pattern = pattern[: begin.start()] + pattern[end:]
    return pattern
