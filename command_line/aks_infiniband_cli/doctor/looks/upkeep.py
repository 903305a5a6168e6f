"""Parts without upkeep, and parts that AKS keeps itself although an operator does too."""

import re
from collections.abc import Iterator
from typing import Final

from aks_infiniband.diagnosis.view import Finding, name_of
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.managed import DRANET, managed_of
from aks_infiniband.facts.node_images import VERSION_LABEL
from aks_infiniband.facts.patches import NEWEST_PATCHES, PATCHES_AS_OF, image_behind, newer_than

from aks_infiniband_cli.doctor.looks.operands import NO_POOL, runs
from aks_infiniband_cli.doctor.snapshot import Snapshot, info_of, labels_of

_PATCHED: Final = re.compile(r"v(\d+\.\d+\.\d+)")


def images(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools whose node image lacks the remedy of a security bulletin, or is too old to be supported."""
    pools: dict[tuple[str, str], list[str]] = {}
    for node in snapshot.view.nodes:
        labels = labels_of(node)
        pools.setdefault((labels.get(AGENT_POOL_LABEL, NO_POOL), labels.get(VERSION_LABEL, "")), []).append(
            name_of(node)
        )
    for (pool, image), nodes in pools.items():
        if told := image_behind(image, snapshot.read_at.date()):
            what = f"pool {pool}, {', '.join(nodes)}: {image}: {'; '.join(told)}"
            yield Finding(symptom="node-image-behind", about=f"pool {pool}", what=what)


def kubernetes(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools that run an older patch of Kubernetes than the two newest that are known."""
    pools: dict[tuple[str, str], list[str]] = {}
    for node in snapshot.view.nodes:
        if patch := _PATCHED.match(str(info_of(node).get("kubeletVersion"))):
            pool = labels_of(node).get(AGENT_POOL_LABEL, NO_POOL)
            pools.setdefault((pool, patch[1]), []).append(name_of(node))
    for (pool, version), nodes in pools.items():
        newer = newer_than(version)
        if len(newer) >= len(next(iter(NEWEST_PATCHES.values()))):
            what = f"pool {pool}, {', '.join(nodes)}: {version}; on {PATCHES_AS_OF} there were {' and '.join(newer)}"
            yield Finding(symptom="kubernetes-patch-behind", about=f"pool {pool}", what=what)


def managed(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes on which AKS manages what an operator of this cluster manages too."""
    for node in snapshot.view.nodes:
        for each in managed_of(labels_of(node)):
            operator, symptom = (
                ("network-operator", "aks-manages-rdma") if each is DRANET else ("gpu-operator", "aks-manages-gpus")
            )
            if runs(snapshot, operator):
                about = f"node {name_of(node)}"
                what = f"{about} has {each.name}, which owns {each.owns}, and the {operator} runs here"
                yield Finding(symptom=symptom, about=about, what=what)
