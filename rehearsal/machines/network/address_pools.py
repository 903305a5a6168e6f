"""NV-IPAM: which block of an IPPool's subnet each node has, and which address of its block a pod gets.

As nvidia-k8s-ipam's controller and node agent do it: nodes in order of name, blocks of perNodeBlockSize addresses from
the subnet's second address on, a node keeps its block while the pool's settings stay.
"""

import ipaddress
from collections.abc import Collection, Iterable, Mapping
from typing import Any

Document = Mapping[str, Any]


def allocations(pool: Document, nodes: Iterable[Document]) -> list[dict[str, str]]:
    """The content of the pool's status.allocations, as many nodes as the subnet has blocks for.

    Raises ValueError for a subnet that is none.
    """
    spec = pool["spec"]
    subnet, size = ipaddress.ip_network(spec["subnet"]), int(spec["perNodeBlockSize"])
    names = sorted(node["metadata"]["name"] for node in nodes if _selected(node, spec.get("nodeSelector")))
    kept = _kept(pool, subnet, size, names)
    blocks = range((subnet.num_addresses - 2) // size)
    free = iter([index for index in blocks if index not in set(kept.values())])
    made = []
    for name in names:
        index = kept[name] if name in kept else next(free, None)
        if index is not None:
            first = subnet[1 + index * size]
            made.append({"nodeName": name, "startIP": str(first), "endIP": str(first + size - 1)})
    return made


def _kept(
    pool: Document, subnet: ipaddress.IPv4Network | ipaddress.IPv6Network, size: int, names: Collection[str]
) -> dict[str, int]:
    """Nodes that have a block already, and its number; blocks that no longer fit the settings are lost."""
    kept: dict[str, int] = {}
    for block in (pool.get("status") or {}).get("allocations") or []:
        start, end = ipaddress.ip_address(block["startIP"]), ipaddress.ip_address(block["endIP"])
        index, rest = divmod(int(start) - int(subnet[1]), size)
        if start in subnet and rest == 0 and int(end) - int(start) == size - 1 and block["nodeName"] in names:
            kept[block["nodeName"]] = index
    return kept


def free_address_of(pool: Document, node: str, taken: Collection[str]) -> str | None:
    """The first free address of the node's block; None if the node lacks a block, or its block is full.

    taken: addresses of the pool that pods have. The pool's gateway and its exclusions are never given.
    """
    spec = pool["spec"]
    block = next(
        (
            allocation
            for allocation in (pool.get("status") or {}).get("allocations") or []
            if allocation["nodeName"] == node
        ),
        None,
    )
    if block is None:
        return None
    excluded = [
        (int(ipaddress.ip_address(exclusion["startIP"])), int(ipaddress.ip_address(exclusion["endIP"])))
        for exclusion in spec.get("exclusions") or []
    ]
    first = ipaddress.ip_address(block["startIP"])
    for step in range(int(ipaddress.ip_address(block["endIP"])) - int(first) + 1):
        address = first + step
        if str(address) in taken or str(address) == spec.get("gateway"):
            continue
        if not any(low <= int(address) <= high for low, high in excluded):
            return str(address)
    return None


def _selected(node: Document, selector: Document | None) -> bool:
    """True if any term of a node selector matches; none selects every node."""
    terms = (selector or {}).get("nodeSelectorTerms")
    if terms is None:
        return True
    labels = node["metadata"].get("labels") or {}
    return any(
        all(_holds(labels.get(expression["key"]), expression) for expression in term.get("matchExpressions") or [])
        and bool(term)
        for term in terms
    )


def _holds(value: str | None, expression: Document) -> bool:
    match expression["operator"]:
        case "In":
            return value in expression["values"]
        case "NotIn":
            return value not in expression["values"]
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            raise ValueError(f"nodeSelector of an IPPool: operator {operator} is not one that a rehearsal knows")
