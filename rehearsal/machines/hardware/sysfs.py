"""The parts of /sys, /proc and /dev of a simulated machine that programs for RDMA and GPUs look at, as plain files.

Contents are what the kernel prints: drivers/infiniband/core/sysfs.c for /sys/class/infiniband, fs/proc for limits and
status. A device node is an empty file: nothing can be opened through it, but everything can be counted.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from rehearsal.machines.hardware import beneath
from rehearsal.machines.hardware.kernel_modules import AMDGPU, AMDGPU_MODULES, IPOIB
from rehearsal.machines.hardware.model import Hardware, RdmaDevice

MEMLOCK_BYTES: Final = 8 * 2**20
"""RLIMIT_MEMLOCK of a container on AKS: containerd runs with systemd's default LimitMEMLOCK, 8 MiB."""
_NVIDIA_VERSION: Final = "580.126.20"
"""Version of NVIDIA's modules: the driver that GPU Operator 26.3.3 installs by default."""
_AMDGPU_VERSION: Final = "6.16.6"
"""Version of the modules of AMD's driver 30.20.1, which the kernel's own amdgpu has not; assumed."""
_ETHERNET_TYPE, _INFINIBAND_TYPE = "1", "32"
"""ARPHRD_ETHER and ARPHRD_INFINIBAND (include/uapi/linux/if_arp.h)."""
_DEFAULT_CAPABILITIES: Final = 0xA80425FB
"""Capabilities that containerd gives a container by default (CAP_CHOWN to CAP_SETFCAP, fourteen in all)."""
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


def sys_files(hardware: Hardware, modules: Collection[str]) -> dict[str, str]:
    """Every file below /sys, by its path there.

    modules: the kernel modules that are loaded.
    """
    files: dict[str, str] = {f"module/{name}/initstate": "live" for name in modules}
    files |= {f"module/{name}/version": _NVIDIA_VERSION for name in modules if name.startswith("nvidia")}
    if "nvidia" in modules:  # P: proprietary, O: not of the kernel (Linux, kernel/module/main.c)
        files["module/nvidia/taint"] = "O" if hardware.open_modules else "PO"
    if AMDGPU in modules:
        files |= {f"module/{name}/version": _AMDGPU_VERSION for name in AMDGPU_MODULES}
        files |= {"class/kfd/kfd/dev": "236:0", "module/amdgpu/drivers/pci:amdgpu/new_id": ""}
    for device in hardware.rdma_devices:
        base = f"class/infiniband/{device.name}"
        files |= {f"{base}/{path}": text for path, text in _device_files(device).items()}
        if device.link_layer == "Ethernet" or IPOIB in modules:
            kind = _ETHERNET_TYPE if device.link_layer == "Ethernet" else _INFINIBAND_TYPE
            files |= interface_files(device.interface, kind=kind, up=device.link_up)
            files[f"{base}/device/net/{device.interface}/operstate"] = _operstate(device.link_up)
        files |= {f"{base}/ports/1/{path}": text for path, text in _port_files(device).items()}
        files[f"class/infiniband_verbs/uverbs{device.index}/ibdev"] = device.name
    for pci in hardware.pci_devices:
        files |= {
            f"bus/pci/devices/{pci.address}/vendor": f"0x{pci.vendor}",
            f"bus/pci/devices/{pci.address}/device": f"0x{pci.device}",
            f"bus/pci/devices/{pci.address}/class": f"0x{pci.device_class}00",
            f"bus/pci/devices/{pci.address}/numa_node": str(pci.numa_node),
        }
    for node, cpus in enumerate(hardware.numa_cpus):
        files[f"devices/system/node/node{node}/cpulist"] = cpus
    return files


def pod_interfaces(infiniband: Mapping[str, bool]) -> dict[str, str]:
    """The files below /sys that show a pod's own network interfaces.

    infiniband: its IPoIB interfaces in addition to eth0, each with True if the link below it is up.
    """
    files = interface_files("eth0", kind=_ETHERNET_TYPE, up=True)
    for name, up in infiniband.items():
        files |= interface_files(name, kind=_INFINIBAND_TYPE, up=up)
    return files


def interface_files(name: str, *, kind: str, up: bool) -> dict[str, str]:
    """The files of one network interface. kind: its ARPHRD number."""
    return {f"class/net/{name}/operstate": _operstate(up), f"class/net/{name}/type": kind}


def _operstate(up: bool) -> str:
    return "up" if up else "down"


def proc_files(*, kernel: str, capabilities: int, modules: Collection[str], memlock: int | None) -> dict[str, str]:
    """The files below /proc that say what a container may do, by their path there.

    memlock: RLIMIT_MEMLOCK in bytes; None: unlimited.
    """
    bound = "unlimited" if memlock is None else str(memlock)
    limit = f"{'Max locked memory':<26}{bound:<21}{bound:<21}bytes     "
    return {
        "modules": "\n".join(f"{name} 0 0 - Live 0x0000000000000000" for name in sorted(modules)),
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


def dev_files(
    *, rdma: Iterable[RdmaDevice], gpus: Iterable[int], modules: Collection[str], vendor: str | None = "nvidia"
) -> list[str]:
    """The device nodes of a container that holds these RDMA devices and GPUs (by index), by their path below /dev.

    vendor: whose GPUs they are. amdgpu makes the nodes of AMD's (kernel, Documentation/gpu; render nodes from 128 on).
    """
    held = sorted(device.index for device in rdma)
    kinds = ("uverbs", "umad", "issm") if "ib_umad" in modules else ("uverbs",)
    nodes = [f"infiniband/{kind}{index}" for index in held for kind in kinds]
    if held and "rdma_ucm" in modules:
        nodes.append("infiniband/rdma_cm")
    numbers = sorted(gpus)
    if numbers and vendor == "amd" and AMDGPU in modules:
        nodes += ["kfd", *(f"dri/{name}" for index in numbers for name in (f"card{index}", f"renderD{128 + index}"))]
    elif numbers and vendor == "nvidia":
        nodes += [*(f"nvidia{index}" for index in numbers), "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"]
    return ["null", "zero", *nodes]


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, each with the newline that the kernel ends it with. The writer follows no
    link there.
    """
    beneath.write_files(folder, {path: f"{text}\n" for path, text in files.items()})


def _device_files(device: RdmaDevice) -> dict[str, str]:
    return {
        "node_type": "1: CA",
        "node_guid": device.guid,
        "sys_image_guid": device.adapter_guid,
        "fw_ver": device.firmware,
        "device/vendor": f"0x{device.pci.vendor}",
        "device/device": f"0x{device.pci.device}",
        "device/class": f"0x{device.pci.device_class}00",
        "device/numa_node": str(device.pci.numa_node),
        # drivers/pci/pci-driver.c, pci_uevent; what of it names the function.
        "device/uevent": f"DRIVER=mlx5_core\nPCI_CLASS={device.pci.device_class.lstrip('0')}00\n"
        f"PCI_ID={device.pci.vendor.upper()}:{device.pci.device.upper()}\nPCI_SLOT_NAME={device.pci.address}",
    }


def _port_files(device: RdmaDevice) -> dict[str, str]:
    infiniband = device.link_layer == "InfiniBand"
    prefix = "fe80:0000:0000:0000"
    return {
        "state": "4: ACTIVE" if device.link_up else "1: DOWN",
        "phys_state": "5: LinkUp" if device.link_up else "2: Polling",
        "rate": f"{device.rate_gbps} Gb/sec ({device.rate_suffix})",
        "link_layer": device.link_layer,
        "lid": f"0x{device.index + 1:x}" if infiniband else "0x0",
        "sm_lid": "0x1" if infiniband else "0x0",
        "gids/0": f"{prefix}:{device.port_guid}",
        **{f"pkeys/{index}": f"0x{pkey:04x}" for index, pkey in enumerate(device.pkeys or (0xFFFF,))},
        **{f"counters/{name}": "0" for name in _COUNTERS},
    }
