"""The start of a container: its program, its environment, and the place of each of its paths on this computer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rehearsal.machines.gpu_libraries.dcgm_words import HOST_ENGINES
from rehearsal.machines.gpu_libraries.nvidia_smi import GPUS, NVLINK
from rehearsal.machines.hardware import beneath
from rehearsal.machines.hardware.container_toolkit import VARIABLE, Toolkit, visible_gpus
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.metadata import with_metadata_of
from rehearsal.machines.hardware.sysfs import (
    dev_files,
    effective_capabilities,
    pod_interfaces,
    proc_files,
    write_files,
)
from rehearsal.machines.kubelet.containers import Confinement, ContainerStart, mounts, rewritten
from rehearsal.machines.kubelet.device_manager import HeldDevices
from rehearsal.machines.kubelet.environment import References, container_environment, expanded
from rehearsal.machines.kubelet.programs import Programs, fresh_folder
from rehearsal.machines.network.networks import Attachment
from rehearsal.machines.rdma_tools.sockperf import IPOIB
from rehearsal.run.images import gpu_libraries_of

_DEFAULT_MESSAGE_PATH: Final = "/dev/termination-log"
_TOOLKIT: Final = Path(__file__).parents[1] / "toolkit"
"""The files that the container toolkit puts into containers with GPUs."""
_LIBRARIES: Final = Path(__file__).parents[1] / "lib"
"""Python packages that stand in for what an image for GPUs brings along."""


@dataclass(frozen=True, kw_only=True)
class MachineView:
    """A machine as a container that starts now finds it."""

    machine: Machine
    root: Path
    """Its own file system, with sys and dev."""
    modules: frozenset[str]
    memlock: int | None
    """RLIMIT_MEMLOCK in bytes; None: no limit."""
    networks: tuple[Attachment, ...] = ()
    """Networks of the container's pod, over IPoIB."""
    toolkit: Toolkit | None = None
    """NVIDIA's container toolkit, if the machine has one."""
    host_engines: tuple[str, ...] = ()
    """Addresses at which a host engine of DCGM listens."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """A kubelet's gifts to a container that starts now.

    folder: the container's own, in which no program has run yet; volumes: the folders of the pod's volumes; variables:
    of every container here.
    """

    folder: Path
    volumes: Mapping[str, Path]
    devices: HeldDevices
    view: MachineView
    programs: Programs
    variables: Mapping[str, str]
    confinement: Confinement
    packages: bool
    """True if it reaches the packages of its image's distribution."""


def container_start(container: Mapping[str, Any], references: References, given: Given) -> ContainerStart:
    """Make a container's own files, and say how it is started.

    Raises MissingReferenceError, InvalidReferenceError for what the spec refers to.
    """
    folder, view = given.folder, given.view
    own_variables = container_environment(container, references)
    _write_own_files(container, given, references, named=own_variables.get(VARIABLE))
    command = container.get("command") or []
    programs = given.programs.of(container["image"], folder, reachable=given.packages)
    programs = programs.running(command[0]) if command else programs
    if given.devices.gpus:
        programs = replace(programs, folders=(*programs.folders, _TOOLKIT))
    message_path = container.get("terminationMessagePath") or _DEFAULT_MESSAGE_PATH
    allowed = {**given.volumes, **_denied(container, references.pod, folder)}
    paths = dict(mounts(container, allowed, _own_paths(folder)))
    paths[message_path] = folder / "termination-log"
    ours = {**_variables(folder, references, view, container["image"]), **given.variables}
    ours[GPUS] = " ".join(gpu.pci.address for gpu in given.devices.gpus)
    variables = ours | own_variables | _by_cdi(given)
    # Ours speak of this computer already; what the pod says speaks of the container.
    environment = {
        name: value if ours.get(name) == value else rewritten(value, paths) for name, value in variables.items()
    }
    environment["PATH"] = programs.search_path(None if programs.lacking else environment.get("PATH"))
    if view.machine.hardware.gpus and _LIBRARIES.is_dir():
        environment["PYTHONPATH"] = ":".join(filter(None, [environment.get("PYTHONPATH"), str(_LIBRARIES)]))
    command = [expanded(word, variables) for word in command]
    program = programs.resolve(command[0]) if command else None
    rest = [*command[1:], *(expanded(word, variables) for word in container.get("args") or [])]
    work = Path(rewritten(container["workingDir"], paths)) if container.get("workingDir") else folder
    return ContainerStart(
        command=None
        if program is None
        else [str(program), *(with_metadata_of(view.root, rewritten(word, paths)) for word in rest)],
        environment=environment,
        folder=work if work.is_dir() else folder,
        message_file=paths[message_path],
        memlock=view.memlock,
        confinement=given.confinement,
        lacking=programs.lacking,
    )


def _own_paths(folder: Path) -> dict[str, Path]:
    # The last is the container's /tmp, not this computer's.
    return {f"/{name}": folder / name for name in ("dev", "proc", "root", "sys", "tmp")}


def _denied(container: Mapping[str, Any], pod: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    """An unprivileged container's view in place of the machine's devices, which it may not open.

    The kernel shows such a mount and refuses to open its content; here, every user can open a file, so it is empty.
    """
    if _is_privileged(container):
        return {}
    empty = folder / "denied"
    return {
        volume["name"]: empty
        for volume in pod["spec"].get("volumes") or []
        if str((volume.get("hostPath") or {}).get("path", "")).split("/")[1:2] == ["dev"]
    }


def _is_privileged(container: Mapping[str, Any]) -> bool:
    return bool((container.get("securityContext") or {}).get("privileged"))


def _by_cdi(given: Given) -> dict[str, str]:
    """The effect of CDI's edits on the variable of a container that was given GPUs (nvidia-container-toolkit,
    pkg/nvcdi).
    """
    cdi = given.devices.gpus and given.view.machine.hardware.gpu_vendor == "nvidia"
    return {VARIABLE: "void"} if cdi else {}


def _write_own_files(container: Mapping[str, Any], given: Given, references: References, *, named: str | None) -> None:
    """named: the GPUs that the container's own variable names to the container toolkit."""
    folder, view, devices = given.folder, given.view, given.devices
    hardware = view.machine.hardware
    everything = _is_privileged(container)
    around: dict[str, Any] = {"named": named, "there": hardware.gpus, "toolkit": view.toolkit}
    seen = visible_gpus(references.pod, container, held=devices.gpus, **around)
    nodes = dev_files(
        rdma=hardware.rdma_devices if everything else devices.rdma_devices,
        gpus=[gpu.index for gpu in (hardware.gpus if everything else seen)],
        vendor=hardware.gpu_vendor,
        modules=view.modules,
    )
    channels = [f"nvidia-caps-imex-channels/channel{number}" for number in devices.imex_channels]
    write_files(folder / "dev", dict.fromkeys([*nodes, *channels], ""))
    pod_spec = references.pod["spec"]
    capabilities = effective_capabilities(container.get("securityContext") or {}, pod_spec.get("securityContext") or {})
    files = proc_files(kernel=references.kernel, capabilities=capabilities, modules=view.modules, memlock=view.memlock)
    write_files(folder / "proc", files)
    own = (
        None
        if pod_spec.get("hostNetwork")
        else pod_interfaces({network.selection.interface: network.device.link_up for network in view.networks})
    )
    link_sys(fresh_folder(folder / "sys"), view.root, own)
    for name in ("denied", "dev/shm", "root", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)


def link_sys(folder: Path, machine: Path, own_interfaces: Mapping[str, str] | None) -> None:
    """The container's /sys: the machine's, except for the parts of a network namespace.

    Such parts are interfaces, which are the pod's own, and the counters of RDMA devices: the kernel shows them in the
    machine's namespace alone (drivers/infiniband/core/sysfs.c; hw_counters, too, as seen on Linux 6.1). machine: its
    file system. own_interfaces: files of those; None if the pod has the machine's network.
    """
    (folder / "class").mkdir(parents=True)
    _link_but(folder, machine, "sys", "class")
    _link_but(folder / "class", machine, "sys/class", *(() if own_interfaces is None else ("net", "infiniband")))
    if own_interfaces is not None and "infiniband" in beneath.names(machine, "sys/class"):
        for device in beneath.names(machine, "sys/class/infiniband"):
            base = f"sys/class/infiniband/{device}"
            ports = folder / "class/infiniband" / device / "ports"
            (ports / "1").mkdir(parents=True)
            _link_but(ports.parent, machine, base, "ports")
            _link_but(ports / "1", machine, f"{base}/ports/1", "counters", "hw_counters")
    write_files(folder, own_interfaces or {})


def _link_but(folder: Path, machine: Path, within: str, *others: str) -> None:
    """Links to the entries of a folder of the machine, except for some."""
    for name in beneath.names(machine, within):
        if name not in others:
            (folder / name).symlink_to(machine / within / name)


def _variables(folder: Path, references: References, view: MachineView, image: str) -> dict[str, str]:
    """The variables of every container; those for the machine's programs begin with REHEARSAL_."""
    pod = references.pod
    variables = {
        "HOSTNAME": pod["spec"].get("hostname") or pod["metadata"]["name"],
        "HOME": str(folder / "root"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        # A ConfigMap's folder is read-only in a pod.
        "PYTHONDONTWRITEBYTECODE": "1",
        "REHEARSAL_NODE": view.machine.name,
        "REHEARSAL_NAMESPACE": pod["metadata"]["namespace"],
        "REHEARSAL_POD_IP": references.pod_ip,
        "REHEARSAL_MACHINE": str(view.root),
        "REHEARSAL_CONTAINER": str(folder),
        "REHEARSAL_GPU_LIBRARIES": gpu_libraries_of(image),
        "REHEARSAL_SERVICE_LEVEL": str(max((hca.service_level for hca in view.machine.hardware.hcas), default=0)),
    }
    if view.host_engines:
        variables[HOST_ENGINES] = " ".join(view.host_engines)
    if view.networks:
        variables[IPOIB] = ",".join(
            f"{network.selection.interface}/{network.address}/{network.device.name}" for network in view.networks
        )
    if fabric := view.machine.hardware.nvlink:
        variables[NVLINK] = f"{fabric.state}/{fabric.cluster_uuid}/{fabric.clique_id}"
    return variables
