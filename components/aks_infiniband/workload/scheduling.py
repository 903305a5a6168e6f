"""A pool as schedulers read it, as plain documents: Kueue's Topology and ResourceFlavor, Volcano's HyperNode.

The levels name labels that the nodes carry already, because the maker of a node sets them: AKS the pool's name, the
kubelet the host's. So nothing here has to follow nodes that come and go.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from aks_infiniband.facts.compute_domains import CLIQUE_LABEL
from aks_infiniband.facts.pool import Pool, Toleration
from aks_infiniband.terminal import page

Scheduler = Literal["kueue", "volcano"]
"""The scheduler of jobs."""
GROUPS: Final[Mapping[Scheduler, str]] = {"kueue": "kueue.x-k8s.io/v1beta2", "volcano": "topology.volcano.sh/v1alpha1"}
"""The API of each. Kueue has v1beta2 from 0.15 on (kubernetes-sigs/kueue v0.15.0, 2025-11-28); Volcano's HyperNode
selects nodes by labels from 1.12 on (volcano-sh/volcano v1.12.0)."""
KINDS: Final[Mapping[Scheduler, Mapping[str, str]]] = {
    "kueue": {"Topology": "topologies", "ResourceFlavor": "resourceflavors"},
    "volcano": {"HyperNode": "hypernodes"},
}
"""The kinds of objects that are made, with their plurals. All are cluster-scoped."""
BRING: Final[Mapping[Scheduler, str]] = {
    "kueue": "helm install kueue oci://registry.k8s.io/kueue/charts/kueue --namespace kueue-system --create-namespace",
    "volcano": "helm install volcano volcano --namespace volcano-system --create-namespace --repo "
    "https://volcano-sh.github.io/helm-charts",
}
"""The command that brings them: charts/kueue/README.md of kubernetes-sigs/kueue v0.17.0, README.md of
volcano-sh/volcano v1.15.1; read 2026-11-26, not run."""
HOSTNAME: Final = "kubernetes.io/hostname"
"""The kubelet's label of the machine. Kueue looks at taints if it is the last level (kubernetes-sigs/kueue v0.17.0,
pkg/cache/scheduler/tas_flavor_snapshot.go).
"""
MOST_LEVELS: Final = 13
"""Further levels: a Topology has 16 at most, with the fabric, the NVLink domain and the machine."""
MOST_OF_A_FLAVOR: Final = 8
"""Labels, and taints, of a ResourceFlavor (both: config/components/crd/bases of kubernetes-sigs/kueue v0.17.0)."""
_TIER: Final = 1
"""Tier of a HyperNode that has nodes as members: the lowest (volcano-sh/volcano v1.15.1, discovery/label/label.go)."""


def unfit(level: str, levels: Sequence[str], scheduler: Scheduler, node_selector: Mapping[str, str]) -> str | None:
    """The reason why a scheduler does not take a further level; None if it does. levels: all of them."""
    if scheduler == "volcano":
        return f"is for scheduler kueue: Volcano finds labels of switches and racks itself ({page('scheduling')})"
    if level == HOSTNAME:
        return "is the last level anyway: leave it out"
    if level in node_selector:
        return "is the same for all nodes of the pool: leave it out"
    return "must be listed once" if levels.count(level) > 1 else None


def fabric_label(pool: Pool) -> str:
    """The label by which a node says on which fabric it is: a pool is one fabric, and two pools never share one."""
    return next(iter(pool.node_selector))


def levels(pool: Pool, nearer: Sequence[str] = ()) -> list[str]:
    """The labels from the fabric down to the machine. nearer: those of switches and racks, the widest first.

    If pods reach each other's GPUs by NVLink, the rack in which they do so is a level by itself.
    """
    rack = [CLIQUE_LABEL] if pool.has_compute_domain and CLIQUE_LABEL not in nearer else []
    return [fabric_label(pool), *nearer, *rack, HOSTNAME]


def flavor_name(pool_name: str) -> str:
    """Name of a pool's ResourceFlavor, which ClusterQueues refer to, and of its HyperNode."""
    return f"infiniband-{pool_name}"


def topology_name(pool: Pool, nearer: Sequence[str] = ()) -> str:
    """Name of a pool's Topology. Other levels are another Topology, because Kueue does not allow a change, and keeps
    the old one until no flavor refers to it.
    """
    digest = hashlib.sha256(" ".join(levels(pool, nearer)).encode()).hexdigest()
    return f"{flavor_name(pool.name)}-{digest[:8]}"


def topology_spec(pool: Pool, nearer: Sequence[str] = ()) -> dict[str, Any]:
    """TopologySpec of kueue.x-k8s.io/v1beta2."""
    return {"levels": [{"nodeLabel": label} for label in levels(pool, nearer)]}


def flavor_spec(pool: Pool, nearer: Sequence[str] = ()) -> dict[str, Any]:
    """ResourceFlavorSpec of kueue.x-k8s.io/v1beta2.

    The pool's taints are nodeTaints: only jobs that tolerate them get the pool, as without Kueue, and podTemplate does.
    As tolerations, which Kueue would give to every job of the queue, they could not be changed.
    """
    taints = [_taint(taint) for taint in pool.tolerations]
    return {
        "nodeLabels": dict(pool.node_selector),
        "topologyName": topology_name(pool, nearer),
        **({"nodeTaints": taints} if taints else {}),
    }


def _taint(tolerated: Toleration) -> dict[str, str]:
    value = {"value": tolerated["value"]} if tolerated.get("value") else {}
    return {"key": tolerated["key"], **value, "effect": tolerated["effect"]}


def hyper_node_spec(pool: Pool) -> dict[str, Any]:
    """HyperNodeSpec of topology.volcano.sh/v1alpha1: all nodes of the pool, now and later."""
    member = {"type": "Node", "selector": {"labelMatch": {"matchLabels": dict(pool.node_selector)}}}
    return {"tier": _TIER, "members": [member]}
