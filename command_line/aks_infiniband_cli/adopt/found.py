"""The content of a cluster, as `adopt` looks at it, and the nodes that form one pool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aks_infiniband.facts.azure_names import SIZE_LABEL, has_rdma, pool_name_of
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import agent_pool_label
from aks_infiniband.operators.existing_gpu_operator import followed
from aks_infiniband.operators.offered import Seen, agent_pool_of, offered, taints_of
from aks_infiniband.resources.there import made_by

from aks_infiniband_cli.console import CommandError

Object = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """Something that is not taken over, or not described."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NodesOfPool:
    """The nodes of one pool."""

    name: str
    vm_size: str
    selector: Mapping[str, str]
    """Labels that they, and no others, carry."""
    of_aks: bool
    """True if AKS names the agent pool of the nodes."""
    nodes: Sequence[Object]

    def keys(self) -> dict[str, Any]:
        """The keys of a stack file's pool whose nodes others keep."""
        keys: dict[str, Any] = {"name": self.name, "vmSize": self.vm_size, "count": len(self.nodes)}
        if taints := list(taints_of(self.nodes)):
            keys["taints"] = taints
        return {**keys, "nodeSelector": dict(self.selector)}

    def offers(self, resource: str) -> bool:
        """True if a node offers a resource to pods."""
        return any(resource in offered(node) for node in self.nodes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A cluster."""

    nodes: Sequence[Object]
    seen: Seen
    """The objects that hand out HCAs."""
    gpu_policies: Sequence[Object]
    """ClusterPolicies."""

    @property
    def gpu_policy(self) -> Object | None:
        """The one that the GPU Operator follows."""
        return followed(self.gpu_policies)

    def theirs(self) -> list[str]:
        """The objects that others keep, with their makers."""
        return [
            f"{item['kind']} {item['metadata']['name']} (made by {made_by(dict(item))})"
            for item in [*self.seen.policies, *self.gpu_policies]
        ]


def pools_in(nodes: Sequence[Object]) -> tuple[list[NodesOfPool], list[Left]]:
    """The pools with InfiniBand, by AKS's label of an agent pool; nodes without it by their machine size."""
    groups: dict[tuple[str, str], list[Object]] = {}
    for node in nodes:
        size = str((node["metadata"].get("labels") or {}).get(SIZE_LABEL) or "")
        groups.setdefault((agent_pool_of(node), size), []).append(node)
    pools: list[NodesOfPool] = []
    left: list[Left] = []
    for (agent_pool, size), members in sorted(groups.items()):
        what = f"nodes of {f'agent pool {agent_pool}, ' if agent_pool else ''}size {size or 'unknown'}"
        if size in SIZES:
            selector = agent_pool_label(agent_pool) if agent_pool else {SIZE_LABEL: size}
            name = agent_pool or pool_name_of(SIZES[size].series)
            pools.append(
                NodesOfPool(name=name, vm_size=size, selector=selector, of_aks=bool(agent_pool), nodes=members)
            )
        elif size.startswith("Standard_N") and has_rdma(size):
            why = "the catalogue does not know the size: describe it under aks-infiniband:sizes, and add the pool"
            left.append(Left(what=what, why=why))
        elif not size:
            left.append(Left(what=what, why=f"they do not say their machine size: they lack the label {SIZE_LABEL}"))
    return pools, left


def require_nodes_in(group: str, subscription: str, name: str, pools: Sequence[NodesOfPool]) -> None:
    """Raises CommandError if a node is not a machine of the cluster in Azure that was named: then the kubeconfig is of
    another cluster. group: in which AKS keeps the machines.
    """
    wanted = f"azure:///subscriptions/{subscription}/resourceGroups/{group}/".casefold()
    for pool in pools:
        for node in pool.nodes:
            provider = str((node.get("spec") or {}).get("providerID") or "")
            if not provider.casefold().startswith(wanted):
                raise CommandError(
                    f"node {node['metadata']['name']} is not a machine of cluster {name}. Its machines are in resource "
                    f"group {group} of subscription {subscription}; the node is {provider or 'of no provider'}. The "
                    "kubeconfig and --cluster must name the same cluster"
                )
