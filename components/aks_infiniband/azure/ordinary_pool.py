"""A pool of machines without InfiniBand beside the others: nothing of ours runs on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import pulumi
from pulumi_azure_native import containerservice

from aks_infiniband.azure.agent_pool import NodePoolArgs, make_agent_pool, node_selector, owner_labels, ready

SPOT: Final = "kubernetes.azure.com/scalesetpriority"
"""Label and taint of a spot pool's nodes. AKS adds both itself; given, they are no difference at the next refresh
(AKS, "Add a spot node pool")."""
_ANY_PRICE: Final = -1.0
"""Up to the ordinary price: evicted for capacity only, never for the price (the same)."""


@dataclass(frozen=True, kw_only=True)
class OrdinaryNodePoolArgs(NodePoolArgs):
    """What an OrdinaryNodePool takes."""

    vm_size: str
    """Azure VM size, such as Standard_D8s_v5."""
    priority: Literal["Regular", "Spot"] = "Regular"
    """Spot machines are cheaper and evicted at any time; their taint keeps off what does not tolerate it. A change
    replaces the pool."""


class OrdinaryNodePool(pulumi.ComponentResource):
    """An AgentPool that this program makes, and otherwise leaves to whoever uses it."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs the nodes: known once Azure says Succeeded."""
    node_selector: Mapping[str, str]
    """The label that the pool's nodes, and no others, carry."""

    def __init__(self, name: str, *, args: OrdinaryNodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:OrdinaryNodePool", name, None, opts)
        pool = make_agent_pool(name, args, parent=self, opts=opts, vm_size=args.vm_size, **_differences(args))
        self.node_selector = node_selector(args.pool_name)
        self.ready = ready(pool, args.pool_name, None)
        self.register_outputs({"nodeSelector": self.node_selector})


def _differences(args: OrdinaryNodePoolArgs) -> dict[str, Any]:
    """Labels, taints and priority. A machine with GPUs keeps the driver that AKS gives it, and the GPU Operator off."""
    labels = {**args.labels, **owner_labels("none", None, args.vm_size)}
    if args.priority == "Regular":
        return {"node_labels": labels or None}
    return {
        "node_labels": {**labels, SPOT: "spot"},
        "node_taints": [*args.taints, f"{SPOT}=spot:NoSchedule"],
        "scale_set_priority": containerservice.ScaleSetPriority.SPOT,
        "scale_set_eviction_policy": containerservice.ScaleSetEvictionPolicy.DELETE,
        "spot_max_price": _ANY_PRICE,
    }
