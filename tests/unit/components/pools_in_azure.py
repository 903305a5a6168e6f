"""Node pools as Azure shows them, for the tests of what is read back."""

from typing import Any, Final

from aks_infiniband.azure import read_back
from aks_infiniband.azure.machines import Machines, OrdinaryPool
from aks_infiniband.azure.node_pool import InfinibandNodePoolArgs, OrdinaryNodePoolArgs
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool

_PLACE: Final[dict[str, Any]] = {"resource_group_name": "g", "cluster_name": "c"}
AKSS_OWN: Final[dict[str, Any]] = {
    "kubeletDiskType": "OS",
    "workloadRuntime": "OCIContainer",
    "maxPods": 250,
    "osDiskSizeGB": 1000,
    "osDiskType": "Ephemeral",
    "scaleDownMode": "Delete",
    "provisioningState": "Succeeded",
    "powerState": {"code": "Running"},
    "orchestratorVersion": "1.35",
    "currentOrchestratorVersion": "1.35.5",
    "enableNodePublicIP": False,
    "enableEncryptionAtHost": False,
    "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202606.08.1",
    "upgradeStrategy": "Rolling",
    "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
    "upgradeSettingsBlueGreen": {},
    "enableFIPS": False,
    "networkProfile": {},
    "securityProfile": {"sshAccess": "LocalUser", "enableVTPM": False, "enableSecureBoot": False},
    "eTag": "24a95c38-e1b5-48b1-a3b3-189ac2676381",
}
"""AKS's values of a pool in addition to the requested ones: that of 2026-06-20 in
tests/field_recordings/aks-bodies.yaml.
"""


def infiniband(gpu_driver: Any = "operator", **machines: Any) -> InfinibandNodePoolArgs:
    size = SIZES["Standard_ND96isr_H100_v5"]
    pool = Pool(name="ndh100", size=size, node_count=2, gpu_driver=gpu_driver)
    return InfinibandNodePoolArgs(pool=pool, machines=Machines(**machines), **_PLACE)


def ordinary(**more: Any) -> OrdinaryNodePoolArgs:
    return OrdinaryNodePoolArgs(pool=OrdinaryPool(name="cpu", vm_size="Standard_D8s_v5", count=3, **more), **_PLACE)


def in_azure(args: Any, **more: Any) -> dict[str, Any]:
    """A pool that was made with these arguments, as Azure shows it."""
    return {"name": args.pool.name, "count": 2, **AKSS_OWN, **read_back.asked(args), **more}
