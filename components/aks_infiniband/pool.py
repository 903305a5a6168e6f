"""The plain facts of one node pool: everything inside the cluster is built from these."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict

from aks_infiniband.catalog import MachineSize


class Toleration(TypedDict):
    """A toleration of core/v1. Always keyed: AKS collapses a list in which one toleration has no key."""

    key: str
    operator: Literal["Equal", "Exists"]
    value: NotRequired[str]
    effect: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """One pool of InfiniBand machines."""

    name: str
    """Name of the pool, as in the settings."""
    size: MachineSize
    """The machine size, with its accelerators and HCAs."""
    node_count: int
    """Number of nodes."""
    node_selector: Mapping[str, str]
    """Labels that the pool's nodes, and no others, carry."""
    tolerations: tuple[Toleration, ...]
    """One for each taint of the pool."""
    rdma_resource: str
    """The extended resource under which a device plugin offers the HCAs, such as rdma/shared_ib."""
    rdma_quantity: int
    """What one pod asks of it."""


def toleration(taint: str) -> Toleration:
    """The toleration of a taint written as Azure writes it, key=value:effect."""
    key_value, _, effect = taint.rpartition(":")
    key, _, value = key_value.partition("=")
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


def tolerations(pools: Iterable[Pool]) -> list[Toleration]:
    """The tolerations of several pools, each once, in the order of the pools."""
    found: list[Toleration] = []
    for pool in pools:
        found.extend(one for one in pool.tolerations if one not in found)
    return found


def node_affinity(pools: Iterable[Pool], *, labels: Mapping[str, str]) -> dict[str, Any]:
    """A nodeAffinity of core/v1: nodes of any of the pools that carry all of these labels too."""

    def expressions(wanted: Mapping[str, str]) -> list[dict[str, Any]]:
        return [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]

    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [*expressions(labels), *expressions(pool.node_selector)]} for pool in pools
            ]
        }
    }
