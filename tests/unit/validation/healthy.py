"""A pool, and the facts and files of a node of it that is all right."""

from pathlib import Path
from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.look.kernel import Roots
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


def write_machine(folder: Path) -> Roots:
    """Write the files of an ND H100 v5 node as one of its pods sees it: eight HCAs, the Ethernet mlx5, eight GPUs."""
    roots = Roots(folder / "sys", folder / "dev", folder / "proc", folder / "shm")
    for index in range(8):
        port = roots.sys / f"class/infiniband/mlx5_ib{index}/ports/1"
        _write(port / "link_layer", "InfiniBand\n")
        _write(port.parents[1] / "device/uevent", f"DRIVER=mlx5_core\nPCI_SLOT_NAME=010{index + 1}:00:00.0\n")
        _write(port.parents[1] / "fw_ver", "28.41.1000\n")
        _write(port / "state", "4: ACTIVE\n")
        _write(port / "phys_state", "5: LinkUp\n")
        _write(port / "rate", "400 Gb/sec (4X NDR)\n")
        for slot, key in enumerate(("0x8012", "0xffff", "0x0000")):
            _write(port / f"pkeys/{slot}", f"{key}\n")
        _write(roots.sys / f"class/infiniband_verbs/uverbs{index}/ibdev", f"mlx5_ib{index}\n")
        _write(roots.dev / f"infiniband/uverbs{index}", "")
        _write(roots.dev / f"nvidia{index}", "")
    port = roots.sys / "class/infiniband/mlx5_an0/ports/1"
    _write(port / "link_layer", "Ethernet\n")
    _write(port / "state", "4: ACTIVE\n")
    _write(port / "rate", "100 Gb/sec (4X EDR)\n")
    for name in ("nvidiactl", "nvidia-uvm", "null", "infiniband/rdma_cm"):
        _write(roots.dev / name, "")
    _write(
        roots.proc / "self/limits", "Max locked memory         8388608              8388608              bytes     \n"
    )
    _write(roots.proc / "self/status", "Name:\tpython3\nCapEff:\t0000000000004000\nCapBnd:\t0000000000000000\n")
    _write(roots.proc / "sys/kernel/osrelease", "6.8.0-1046-azure\n")
    roots.shm.mkdir()
    return roots


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
