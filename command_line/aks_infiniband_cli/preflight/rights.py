"""The requests of later commands to Azure, by the scope at which a role has to permit them.

The names are Azure's (Azure, "Azure permissions for Compute" and "for Containers", read 2026-11-28; that of Kubernetes
versions is assumed). The tables in docs/replace.md and docs/upgrade.md are these, and a test holds them so.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Rights = Mapping[str, Sequence[str]]
"""Names of operations by scope."""
_SUBSCRIPTION, _GROUP, _CLUSTER = "the subscription", "the group in which AKS keeps the machines", "the cluster"
_AKS: Final = "Microsoft.ContainerService"
_POOLS: Final = f"{_AKS}/managedClusters/agentPools"
CHANGE_POOLS: Final = f"{_POOLS}/write"
_MACHINES: Final = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines"
REPLACE: Final[Rights] = {
    _SUBSCRIPTION: ("Microsoft.Compute/locations/operations/read", f"{_AKS}/locations/operations/read"),
    _GROUP: (
        "Microsoft.Resources/subscriptions/resourceGroups/read",
        f"{_MACHINES}/restart/action",
        f"{_MACHINES}/redeploy/action",
    ),
    _CLUSTER: (
        f"{_POOLS}/read",
        CHANGE_POOLS,
        f"{_POOLS}/machines/read",
        f"{_POOLS}/deleteMachines/action",
    ),
}
UPGRADE: Final[Rights] = {
    _SUBSCRIPTION: (f"{_AKS}/locations/operations/read", f"{_AKS}/locations/kubernetesVersions/read"),
    _CLUSTER: (
        f"{_AKS}/managedClusters/read",
        f"{_AKS}/managedClusters/write",
        f"{_POOLS}/read",
        CHANGE_POOLS,
        f"{_POOLS}/upgradeProfiles/read",
        f"{_POOLS}/upgradeNodeImageVersion/action",
        f"{_POOLS}/abort/action",
    ),
}
EVIDENCE: Final[Rights] = {_SUBSCRIPTION: ("Microsoft.Impact/workloadImpacts/write",)}
"""To send the report that `evidence` writes."""
LATER: Final[Mapping[str, Rights]] = {"replace": REPLACE, "upgrade": UPGRADE, "evidence": EVIDENCE}
"""By command."""
