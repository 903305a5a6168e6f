"""What it takes to start a container: program, environment, and where each of its paths is on this computer."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rehearsal.machines.containers import Programs, mounts, rewritten
from rehearsal.machines.devices import HeldDevices
from rehearsal.machines.pod_environment import References, container_environment, expanded
from rehearsal.machines.sysfs import dev_files, effective_capabilities, proc_files, write_files

_DEFAULT_MESSAGE_PATH: Final = "/dev/termination-log"


@dataclass(frozen=True, kw_only=True)
class ContainerStart:
    """A container ready to be started."""

    command: list[str] | None
    """None: the machine has no such program."""
    environment: dict[str, str]
    folder: Path
    message_file: Path


def container_start(
    container: Mapping[str, Any],
    references: References,
    *,
    folder: Path,
    volumes: Mapping[str, Path],
    devices: HeldDevices,
    machine_root: Path,
    programs: Programs,
    given: Mapping[str, str],
) -> ContainerStart:
    """Make a container's own files, and say how it is started.

    folder: the container's own. volumes: where the pod's volumes are. given: variables that every container here has.
    Raises MissingReferenceError, InvalidReferenceError for what the spec refers to.
    """
    _write_own_files(container, folder, devices, references)
    message_path = container.get("terminationMessagePath") or _DEFAULT_MESSAGE_PATH
    paths = dict(mounts(container, volumes, _own_paths(folder, machine_root)))
    paths[message_path] = folder / "termination-log"
    ours = {**_variables(folder, references, devices), **given}
    variables = ours | container_environment(container, references)
    # Ours speak of this computer already; what the pod says speaks of the container.
    environment = {
        name: value if ours.get(name) == value else rewritten(value, paths) for name, value in variables.items()
    }
    environment["PATH"] = programs.search_path(environment.get("PATH"))
    command = [expanded(one, variables) for one in container.get("command") or []]
    found = programs.resolve(command[0]) if command else None
    rest = [*command[1:], *(expanded(one, variables) for one in container.get("args") or [])]
    work = Path(rewritten(container["workingDir"], paths)) if container.get("workingDir") else folder
    return ContainerStart(
        command=None if found is None else [str(found), *(rewritten(one, paths) for one in rest)],
        environment=environment,
        folder=work if work.is_dir() else folder,
        message_file=paths[message_path],
    )


def _own_paths(folder: Path, machine_root: Path) -> dict[str, Path]:
    return {
        "/dev": folder / "dev",
        "/proc": folder / "proc",
        "/root": folder / "root",
        "/tmp": folder / "tmp",  # noqa: S108 - the container's, not this computer's
        "/sys": machine_root / "sys",
    }


def _write_own_files(container: Mapping[str, Any], folder: Path, devices: HeldDevices, references: References) -> None:
    nodes = dev_files(rdma=devices.rdma_devices, gpus=[gpu.index for gpu in devices.gpus])
    write_files(folder / "dev", dict.fromkeys(nodes, ""))
    security = container.get("securityContext") or {}
    capabilities = effective_capabilities(security, references.pod["spec"].get("securityContext") or {})
    write_files(folder / "proc", proc_files(kernel=references.kernel, capabilities=capabilities))
    for name in ("dev/shm", "root", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)


def _variables(folder: Path, references: References, devices: HeldDevices) -> dict[str, str]:
    """The variables that a container has whatever its spec says."""
    pod = references.pod
    variables = {
        "HOSTNAME": pod["spec"].get("hostname") or pod["metadata"]["name"],
        "HOME": str(folder / "root"),
        "LANG": "C.UTF-8",
        # A ConfigMap's folder is read-only in a pod.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    if devices.gpus:
        variables["NVIDIA_VISIBLE_DEVICES"] = ",".join(gpu.uuid for gpu in devices.gpus)
    return variables
