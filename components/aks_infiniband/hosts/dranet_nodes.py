"""Nodes of a cluster that exists already, which are too old for dranet or have a device plugin: pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.facts.dranet import OLDEST_CONTAINERD, OLDEST_KUBERNETES
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.facts.pool import Pool

_OLDEST = ".".join(map(str, OLDEST_KUBERNETES))


def unsuitable(pools: Sequence[Pool], nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What keeps dranet off the nodes of the pools in mode dra, and what to do. nodes: those of the whole cluster."""
    for pool in pools:
        if pool.mode == "dra":
            for node in labelled(nodes, pool.node_selector):
                yield from _of_node(node)


def _of_node(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, status = node["metadata"]["name"], node["status"]
    info = status.get("nodeInfo") or {}
    version, runtime = info.get("kubeletVersion", "").removeprefix("v"), info.get("containerRuntimeVersion", "")
    if version and minor_of(version) < OLDEST_KUBERNETES:
        minor = ".".join(map(str, minor_of(version)))
        what = f"node {name} has Kubernetes {minor}, and mode dra needs {_OLDEST}"
        yield what, f"upgrade control plane and pool to {_OLDEST} or later, or take the mode sriov"
    major = runtime.removeprefix("containerd://").split(".")[0]
    if major.isdigit() and int(major) < OLDEST_CONTAINERD:
        what = f"node {name} has {runtime}, which has NRI off, and dranet hands out no device without it"
        yield what, f"a node image with containerd {OLDEST_CONTAINERD} (Ubuntu 24.04), or the mode sriov"
    offered = status.get("allocatable") or {}
    for resource in sorted(key for key, count in offered.items() if key.startswith("rdma/") and count != "0"):
        what = f"node {name} offers {resource}: a device plugin and dranet would hand out the same HCA"
        yield what, "take the device plugin off the pool's nodes, or take its mode"
