"""The GPUs that a container sees: its own devices, or the devices that a variable names to NVIDIA's container
toolkit.

nvidia-container-toolkit v1.20.0 (internal/config/image/cuda_image.go, privileged.go): the devices that CDI names come
first; the variable counts if it is accepted, and always for a container with CAP_SYS_ADMIN in its bounding set.
NVIDIA/aicr issue 1839 (2026-07-21): on AKS's node images the toolkit's runtime is containerd's default one, and accepts
it. Issue 1354: the toolkit of the GPU Operator serves pods of its runtime classes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.machines.hardware.model import Gpu

VARIABLE: Final = "NVIDIA_VISIBLE_DEVICES"
_ACCEPTS: Final = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
_IN_FILE: Final = "accept-nvidia-visible-devices-envvar-when-unprivileged=false"
_STRATEGY: Final = "DEVICE_LIST_STRATEGY"
_OF_NVIDIA: Final = re.compile(r"(?:^|/)nvidia/(?:cuda|pytorch|tensorflow)[:@]")
"""Images that are built upon NVIDIA's CUDA image, which sets the variable to all."""
_RUNTIME_CLASSES: Final = frozenset({"nvidia", "nvidia-cdi", "nvidia-legacy", "nvidia-container-runtime"})
_NOTHING: Final = frozenset({"", "void", "none"})
_ADMINISTRATOR: Final = frozenset({"SYS_ADMIN", "CAP_SYS_ADMIN", "ALL"})


@dataclass(frozen=True, kw_only=True)
class Toolkit:
    """The settings of a machine's container toolkit."""

    is_default: bool
    """True if all containers go through it, False for only those of its runtime classes."""
    by_variable: bool
    """True if containers without CAP_SYS_ADMIN get the GPUs that the variable names."""
    plugin_by_variable: bool = False
    """True if the device plugin hands GPUs out by the variable, not through CDI."""


def hardens(pod: Mapping[str, Any]) -> bool:
    """True if a pod has the toolkit pass over the variable: it is the toolkit with this setting, or writes into its
    file.
    """
    return any(
        (variable["name"], variable.get("value")) == (_ACCEPTS, "false")
        for container in pod["spec"]["containers"]
        for variable in container.get("env") or []
    ) or any(
        _IN_FILE in text
        for container in pod["spec"].get("initContainers") or []
        for text in [*(container.get("command") or []), *(container.get("args") or [])]
    )


def hands_out_by_variable(pod: Mapping[str, Any]) -> bool:
    """True if a device plugin's pod has a strategy without CDI."""
    return any(
        variable["name"] == _STRATEGY and "cdi-" not in (variable.get("value") or "")
        for container in pod["spec"]["containers"]
        for variable in container.get("env") or []
    )


def visible_gpus(
    pod: Mapping[str, Any],
    container: Mapping[str, Any],
    *,
    named: str | None,
    held: Sequence[Gpu],
    there: Sequence[Gpu],
    toolkit: Toolkit | None,
) -> Sequence[Gpu]:
    """The GPUs of a container that is not privileged.

    named: its variable, as its spec has it. held: the GPUs that it was given. there: the GPUs of the machine. toolkit:
    None if a machine has none.
    """
    if held and not (toolkit and toolkit.plugin_by_variable):
        return held
    if toolkit is None or not (toolkit.is_default or pod["spec"].get("runtimeClassName") in _RUNTIME_CLASSES):
        return ()
    if not (toolkit.by_variable or _is_administrator(container)):
        return ()
    if held:
        return held
    wanted = named if named is not None else "all" if _OF_NVIDIA.search(container["image"]) else ""
    names = set(wanted.split(","))
    if names <= _NOTHING:
        return ()
    return [gpu for gpu in there if "all" in names or {str(gpu.index), gpu.uuid} & names]


def _is_administrator(container: Mapping[str, Any]) -> bool:
    added = ((container.get("securityContext") or {}).get("capabilities") or {}).get("add") or []
    return bool(_ADMINISTRATOR & set(added))
