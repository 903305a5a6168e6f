"""A pod's access to its machine's error counters: the mounts for them, read-only, and for nothing else."""

from typing import Any, Final

from aks_infiniband.validation.payload.look.counters import Unread

__all__ = ["Unread", "counter_arguments", "counter_mounts", "counter_volumes"]

_HOST: Final = "/run/aks-infiniband/sys"
_COUNTERS: Final = ("class/infiniband", "devices")
"""The folders of a machine's /sys from which its ports' counters are read, because a pod's own /sys has none
(payload/look/counters.py). The entries of the first folder are links into the second. The links' targets differ from
machine to machine, so nothing narrower can be mounted. Both are mounted read-only. The mounts show a pod these counters
and the network interfaces, and nothing else that its own /sys lacks.
"""


def counter_mounts(unread: Unread) -> list[dict[str, Any]]:
    """The mounts of a container that reads its machine's error counters, and for nothing else."""
    names = [] if unread == "off" else _COUNTERS
    return [{"name": _host_volume(of), "mountPath": f"{_HOST}/{of}", "readOnly": True} for of in names]


def counter_volumes(unread: Unread) -> list[dict[str, Any]]:
    """The volumes of these mounts."""
    names = [] if unread == "off" else _COUNTERS
    return [{"name": _host_volume(of), "hostPath": {"path": f"/sys/{of}", "type": "Directory"}} for of in names]


def counter_arguments(unread: Unread) -> list[str]:
    """The payload's path to them."""
    return [] if unread == "off" else ["--counters", f"{_HOST}/{_COUNTERS[0]}"]


def _host_volume(path: str) -> str:
    return f"host-sys-{path.replace('/', '-')}"
