"""A pool of machines without InfiniBand beside the others: nothing of ours runs on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.agent_pool import NodePoolArgs, make_agent_pool, owner_labels, ready
from aks_infiniband.azure.arguments import OrdinaryPool
from aks_infiniband.facts.pool import agent_pool_label

SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""Label and taint of a spot pool's nodes. AKS adds both itself; given, they are no difference at the next refresh
(AKS, "Add a spot node pool")."""
_ANY_PRICE: Final = -1.0
"""Up to the ordinary price: evicted for capacity only, never for the price (the same)."""


@dataclass(frozen=True, kw_only=True)
class OrdinaryNodePoolArgs(NodePoolArgs):
    """What an OrdinaryNodePool takes."""

    pool: OrdinaryPool
    """The pool."""


class OrdinaryNodePool(pulumi.ComponentResource):
    """An AgentPool that this program makes, and otherwise leaves to whoever uses it."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: OrdinaryNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:OrdinaryNodePool", name, None, opts)
        pool = args.pool
        made = make_agent_pool(name, pool, args, parent=self, opts=opts, vm_size=pool.vm_size, **_differences(args))
        self.node_selector = agent_pool_label(pool.name)
        self.ready = ready(made, pool.name, None)
        self.register_outputs({"nodeSelector": self.node_selector})


def _differences(args: OrdinaryNodePoolArgs) -> dict[str, Any]:
    """Labels, taints and priority. A machine with GPUs keeps the driver that AKS gives it, and the GPU Operator off."""
    pool = args.pool
    labels = {**args.machines.labels, **owner_labels("none", None, pool.vm_size)}
    if pool.priority == "Regular":
        return {"node_labels": labels or None}
    return {
        "node_labels": {**labels, SPOT: "spot"},
        "node_taints": [*pool.taints, f"{SPOT}=spot:NoSchedule"],
        "scale_set_priority": containerservice.ScaleSetPriority.SPOT,
        "scale_set_eviction_policy": containerservice.ScaleSetEvictionPolicy.DELETE,
        "spot_max_price": _ANY_PRICE,
    }
