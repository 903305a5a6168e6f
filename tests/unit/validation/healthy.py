"""A pool, and the facts of a node of it that is all right."""

from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.workload.environment import nccl_environment

POOL = Pool(
    name="ndh100",
    size=SIZES["Standard_ND96isr_H100_v5"],
    node_count=2,
    node_selector={"agentpool": "ndh100"},
    taints=("sku=gpu:NoSchedule",),
    mode="rdma-shared",
    nic_driver="doca-ofed",
    gpu_driver="operator",
)


def healthy() -> dict[str, Any]:
    """Facts of a node that is all right, to be changed."""
    hcas = [
        {
            "device": f"mlx5_ib{index}",
            "pci_address": f"010{index + 1}:00:00.0",
            "firmware": "28.41.1000",
            "state": "ACTIVE",
            "physical_state": "LinkUp",
            "rate_gbps": 400.0,
            "partition_keys": ["0x8012", "0xffff"],
        }
        for index in range(8)
    ]
    return {
        "hcas": hcas,
        "ethernet_devices": ["mlx5_an0"],
        "uverbs": [f"uverbs{index}" for index in range(8)],
        "uverbs_of": {**{f"mlx5_ib{index}": f"uverbs{index}" for index in range(8)}, "mlx5_an0": "uverbs8"},
        "verbs": {
            "ports": {f"mlx5_ib{index}": [{"state": "PORT_ACTIVE", "link_layer": "InfiniBand"}] for index in range(8)},
            "said": None,
        },
        "accelerator_devices": [f"nvidia{index}" for index in range(8)],
        "memlock_bytes": 8388608,
        "ipc_lock": True,
        "memlock_bytes_non_root": 8388608,
        "shm_bytes": 64 << 30,
        "environment": nccl_environment(),
        "interfaces": {"eth0": {"infiniband": False, "addresses": []}},
        "kernel": "6.8.0-1046-azure",
        "placement": {"group": "f5a4", "scale_set": "aks-ndh100-33735988-vmss", "said": None},
        "versions": {"kernel": "6.8.0-1046-azure", "HCA firmware": "28.41.1000"},
        "counters": {},
    }
