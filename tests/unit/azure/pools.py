"""What tests of agent pools ask of a simulated Azure."""

from typing import Any

from tests.unit.azure.asking import Azure

POOL = "containerservice:AgentPool"
CLUSTER = "containerservice:ManagedCluster"


def machines(azure: Azure, pool: str) -> list[dict[str, Any]]:
    return [node for name, node in azure.machines.nodes.items() if name.startswith(f"aks-{pool}-")]
