"""The parts of /sys, /proc and /dev of a simulated machine that programs for RDMA and GPUs look at, as plain files.

Contents are what the kernel prints: drivers/infiniband/core/sysfs.c for /sys/class/infiniband, fs/proc for limits and
status. A device node is an empty file: nothing can be opened through it, but everything can be counted.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from rehearsal.machines.hardware import Hardware, RdmaDevice

MEMLOCK_BYTES: Final = 8 * 2**20
"""RLIMIT_MEMLOCK of a container on AKS: containerd runs with systemd's default LimitMEMLOCK, 8 MiB."""
_DEFAULT_CAPABILITIES: Final = 0xA80425FB
"""What containerd gives a container that asks for nothing (CAP_CHOWN to CAP_SETFCAP, fourteen in all)."""
_CAP_IPC_LOCK: Final = 1 << 14
_ALL_CAPABILITIES: Final = 0x1FFFFFFFFFF
_COUNTERS: Final = (
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "port_rcv_constraint_errors",
    "port_rcv_data",
    "port_rcv_errors",
    "port_rcv_packets",
    "port_rcv_remote_physical_errors",
    "port_xmit_constraint_errors",
    "port_xmit_data",
    "port_xmit_discards",
    "port_xmit_packets",
    "port_xmit_wait",
    "symbol_error",
)


def sys_files(hardware: Hardware) -> dict[str, str]:
    """Every file below /sys, by its path there."""
    files: dict[str, str] = {}
    for device in hardware.rdma_devices:
        base = f"class/infiniband/{device.name}"
        files |= {f"{base}/{path}": text for path, text in _device_files(device).items()}
        files |= {f"{base}/ports/1/{path}": text for path, text in _port_files(device).items()}
        files |= {
            f"class/infiniband_verbs/uverbs{device.index}/ibdev": device.name,
            f"class/net/{device.interface}/operstate": "up",
        }
    for pci in hardware.pci_devices:
        files |= {
            f"bus/pci/devices/{pci.address}/vendor": f"0x{pci.vendor}",
            f"bus/pci/devices/{pci.address}/device": f"0x{pci.device}",
            f"bus/pci/devices/{pci.address}/class": f"0x{pci.device_class}00",
            f"bus/pci/devices/{pci.address}/numa_node": str(pci.numa_node),
        }
    return files


def proc_files(*, kernel: str, capabilities: int) -> dict[str, str]:
    """The files below /proc that say what a container may do, by their path there."""
    limit = f"{'Max locked memory':<26}{MEMLOCK_BYTES:<21}{MEMLOCK_BYTES:<21}bytes     "
    return {
        "self/limits": f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}Units     \n{limit}",
        "self/status": f"CapEff:\t{capabilities:016x}",
        "sys/kernel/osrelease": kernel,
    }


def effective_capabilities(security: Mapping[str, object], pod_security: Mapping[str, object]) -> int:
    """CapEff of a container's first process, from the securityContext of container and pod.

    Capabilities that are added do not become effective for another user than root, IPC_LOCK included.
    """
    if security.get("runAsUser", pod_security.get("runAsUser", 0)) != 0:
        return 0
    if security.get("privileged"):
        return _ALL_CAPABILITIES
    capabilities = security.get("capabilities") or {}
    asked = capabilities.get("add") or [] if isinstance(capabilities, Mapping) else []
    dropped = capabilities.get("drop") or [] if isinstance(capabilities, Mapping) else []
    effective = 0 if "ALL" in dropped else _DEFAULT_CAPABILITIES
    if "ALL" in asked:
        return _ALL_CAPABILITIES
    return effective | (_CAP_IPC_LOCK if {"IPC_LOCK", "CAP_IPC_LOCK"} & set(asked) else 0)


def dev_files(*, rdma: Iterable[RdmaDevice], gpus: Iterable[int]) -> list[str]:
    """The device nodes of a container that holds these RDMA devices and GPUs (by index), by their path below /dev."""
    held = sorted(device.index for device in rdma)
    nodes = [f"infiniband/{kind}{index}" for index in held for kind in ("uverbs", "umad", "issm")]
    if held:
        nodes.append("infiniband/rdma_cm")
    cuda = [f"nvidia{index}" for index in sorted(gpus)]
    if cuda:
        nodes += [*cuda, "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"]
    return ["null", "zero", *nodes]


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, each with the newline that the kernel ends it with."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{text}\n")


def _device_files(device: RdmaDevice) -> dict[str, str]:
    return {
        "node_type": "1: CA",
        "node_guid": device.guid,
        "sys_image_guid": device.guid,
        "device/vendor": f"0x{device.pci.vendor}",
        "device/device": f"0x{device.pci.device}",
        "device/class": f"0x{device.pci.device_class}00",
        "device/numa_node": str(device.pci.numa_node),
        f"device/net/{device.interface}/operstate": "up",
    }


def _port_files(device: RdmaDevice) -> dict[str, str]:
    infiniband = device.link_layer == "InfiniBand"
    prefix = "fe80:0000:0000:0000"
    return {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "rate": f"{device.rate_gbps} Gb/sec ({device.rate_suffix})",
        "link_layer": device.link_layer,
        "lid": f"0x{device.index + 1:x}" if infiniband else "0x0",
        "sm_lid": "0x1" if infiniband else "0x0",
        "gids/0": f"{prefix}:{device.guid}",
        **{f"pkeys/{index}": f"0x{pkey:04x}" for index, pkey in enumerate(device.pkeys or (0xFFFF,))},
        **{f"counters/{name}": "0" for name in _COUNTERS},
    }
