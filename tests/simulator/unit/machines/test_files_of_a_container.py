"""A container's files below /sys, /dev and /proc of a simulated machine."""

from dataclasses import replace
from typing import Any

from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import (
    MEMLOCK_BYTES,
    dev_files,
    effective_capabilities,
    pod_interfaces,
    proc_files,
    sys_files,
)

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
INBOX = frozenset(INBOX_MODULES)
LOADED = INBOX | {"ib_umad", "ib_ipoib", "rdma_ucm", "nvidia_peermem"}
IPC_LOCK = 1 << 14


def test_links_read_as_the_kernel_prints_them() -> None:
    files = sys_files(H100, LOADED)
    port = "class/infiniband/mlx5_0/ports/1"
    assert [files[f"{port}/{name}"] for name in ("state", "phys_state", "rate", "link_layer")] == [
        "4: ACTIVE",
        "5: LinkUp",
        "400 Gb/sec (4X NDR)",
        "InfiniBand",
    ]
    assert files[f"{port}/pkeys/0"] == f"0x{H100.hcas[0].pkeys[0]:04x}"
    assert files["class/infiniband/mlx5_8/ports/1/link_layer"] == "Ethernet"


def test_hcas_have_an_interface_only_with_the_module_for_it() -> None:
    interface = H100.hcas[0].interface
    assert sys_files(H100, LOADED)[f"class/net/{interface}/type"] == "32"
    inbox = sys_files(H100, INBOX)
    assert f"class/net/{interface}/operstate" not in inbox
    assert f"class/net/{H100.rdma_devices[-1].interface}/operstate" in inbox, "the Ethernet one needs none"


def test_a_module_is_in_sys_while_it_is_loaded() -> None:
    assert "module/nvidia_peermem/version" in sys_files(H100, LOADED)
    assert "module/nvidia_peermem/version" not in sys_files(H100, INBOX)
    assert sys_files(H100, INBOX)["module/mlx5_ib/initstate"] == "live"


def test_a_port_whose_link_is_down_says_so() -> None:
    down = replace(H100, rdma_devices=(replace(H100.hcas[0], link_up=False),))
    port = "class/infiniband/mlx5_0/ports/1"
    files = sys_files(down, LOADED)
    assert (files[f"{port}/state"], files[f"{port}/phys_state"]) == ("1: DOWN", "2: Polling")


def test_a_pod_sees_its_own_interfaces() -> None:
    assert pod_interfaces({}) == {"class/net/eth0/operstate": "up", "class/net/eth0/type": "1"}
    assert pod_interfaces({"net1": True})["class/net/net1/type"] == "32"
    assert pod_interfaces({"net1": False})["class/net/net1/operstate"] == "down"


def test_a_container_sees_only_the_devices_that_it_holds() -> None:
    assert dev_files(rdma=[], gpus=[], modules=LOADED) == ["null", "zero"]
    nodes = dev_files(rdma=H100.hcas[:1], gpus=[3], modules=LOADED)
    assert {"infiniband/uverbs0", "infiniband/rdma_cm", "nvidia3", "nvidiactl"} <= set(nodes)
    assert "infiniband/uverbs1" not in nodes
    inbox = dev_files(rdma=H100.hcas[:1], gpus=[], modules=INBOX)
    assert [path for path in inbox if path.startswith("infiniband")] == ["infiniband/uverbs0"]


def test_ipc_lock_is_effective_for_root_alone() -> None:
    adds = {"capabilities": {"add": ["IPC_LOCK"]}}
    assert effective_capabilities({}, {}) & IPC_LOCK == 0
    assert effective_capabilities(adds, {}) & IPC_LOCK
    assert effective_capabilities(adds, {"runAsUser": 1000}) == 0
    assert effective_capabilities({"privileged": True}, {}) & IPC_LOCK
    assert effective_capabilities({"capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}}, {}) == IPC_LOCK


def test_limits_are_those_of_a_container_on_aks() -> None:
    known: dict[str, Any] = {"kernel": "6.8.0-1031-azure", "capabilities": 0xA80425FB, "modules": INBOX}
    files = proc_files(**known, memlock=MEMLOCK_BYTES)
    locked = files["self/limits"].splitlines()[1].split()
    assert locked == ["Max", "locked", "memory", str(MEMLOCK_BYTES), str(MEMLOCK_BYTES), "bytes"]
    assert files["self/status"] == "CapEff:\t00000000a80425fb"
    assert "ib_umad" not in files["modules"]
    lifted = proc_files(**known, memlock=None)["self/limits"].splitlines()[1].split()
    assert lifted[3:5] == ["unlimited", "unlimited"]
