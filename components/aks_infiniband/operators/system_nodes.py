"""Where the operators run: on the nodes that the cluster sets aside for its own pods, never on those they prepare."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from aks_infiniband.facts.pool import Pool, node_term

SYSTEM_POOL: Final[Mapping[str, str]] = {"kubernetes.azure.com/mode": "system"}
"""AKS's label on the nodes of system pools."""


def system_node_affinity(selector: Mapping[str, str], pools: Sequence[Pool]) -> dict[str, Any]:
    """The affinity of core/v1 for an operator's own pod.

    selector: labels of the nodes that carry the operators; empty means any node that is not of one of the pools.
    """
    terms = [node_term(selector)] if selector else _of_no_pool(pools)
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _of_no_pool(pools: Sequence[Pool]) -> list[dict[str, Any]]:
    """Terms that select the nodes of no pool.

    A node belongs to a pool when it carries all of the pool's labels, so it does not when it lacks one of them. Each
    term names one lacking label for every pool. A term that asks for more than another is left out: where many pools
    share labels there would be thousands. NotIn holds for nodes without the label too.
    """
    ways: list[frozenset[tuple[str, str]]] = [frozenset()]
    for pool in pools:
        longer = dict.fromkeys(way | {label} for way in ways for label in pool.node_selector.items())
        ways = [way for way in longer if not any(other < way for other in longer)]
    return [{"matchExpressions": _lacking(sorted(way))} for way in ways]


def _lacking(labels: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """labels: sorted."""
    by_key = groupby(labels, key=lambda label: label[0])
    return [{"key": key, "operator": "NotIn", "values": [value for _, value in of_key]} for key, of_key in by_key]
