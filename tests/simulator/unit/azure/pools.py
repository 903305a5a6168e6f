"""The calls of agent pools' tests to a simulated Azure."""

import json
from typing import Any

from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from tests.simulator.unit.azure.asking import Azure

POOL = "containerservice:AgentPool"
CLUSTER = "containerservice:ManagedCluster"
IN_PLACE = {"maxSurge": "0", "maxUnavailable": "1"}
"""The program's upgrade settings of its pools."""


def machines(azure: Azure, pool: str) -> list[dict[str, Any]]:
    return [node for name, node in azure.machines.nodes.items() if name.startswith(f"aks-{pool}-")]


def fabrics(azure: Azure, pool: str) -> set[str]:
    """The fabrics that a pool's machines are on."""
    annotations = [node["metadata"]["annotations"][MACHINE_ANNOTATION] for node in machines(azure, pool)]
    return {json.loads(annotation)["fabric"] for annotation in annotations}
