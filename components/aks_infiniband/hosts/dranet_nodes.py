"""Nodes of a cluster that exists already, which are too old for claims or have a device plugin: pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.facts.dranet import OLDEST_CONTAINERD, OLDEST_KUBERNETES
from aks_infiniband.facts.kubernetes import minor_of
from aks_infiniband.facts.pool import Pool

_OLDEST = ".".join(map(str, OLDEST_KUBERNETES))


def unsuitable(pools: Sequence[Pool], nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The reasons that keep claims off nodes of pools whose pods have some, and what to do. nodes: those of the whole
    cluster.
    """
    for pool in pools:
        for node in labelled(nodes, pool.node_selector):
            if pool.access.claims:
                yield from _too_old(node, "mode dra", "the mode sriov")
                yield from _of_node(node)
            elif pool.has_compute_domain:
                yield from _too_old(node, "a ComputeDomain", "gpuDriver: none")


def _too_old(node: Mapping[str, Any], what_for: str, otherwise: str) -> Iterator[tuple[str, str]]:
    """Claims need resource.k8s.io/v1, whatever driver serves them."""
    info = node["status"].get("nodeInfo") or {}
    version = info.get("kubeletVersion", "").removeprefix("v")
    if version and minor_of(version) < OLDEST_KUBERNETES:
        minor = ".".join(map(str, minor_of(version)))
        what = f"node {node['metadata']['name']} has Kubernetes {minor}, and {what_for} needs {_OLDEST}"
        yield what, f"upgrade control plane and pool to {_OLDEST} or later, or take {otherwise}"


def _of_node(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, status = node["metadata"]["name"], node["status"]
    runtime = (status.get("nodeInfo") or {}).get("containerRuntimeVersion", "")
    major = runtime.removeprefix("containerd://").split(".")[0]
    if major.isdigit() and int(major) < OLDEST_CONTAINERD:
        what = f"node {name} has {runtime}, which has NRI off, and dranet hands out no device without it"
        yield what, f"a node image with containerd {OLDEST_CONTAINERD} (Ubuntu 24.04), or the mode sriov"
    offered = status.get("allocatable") or {}
    for resource in sorted(key for key, count in offered.items() if key.startswith("rdma/") and count != "0"):
        what = f"node {name} offers {resource}: a device plugin and dranet would hand out the same HCA"
        yield what, "take the device plugin off the pool's nodes, or take its mode"
