"""The ports that libibverbs sees in a pod, read through ibv_devinfo."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypedDict

from ..programs.install import Tools
from ..programs.process import Ended, run_to_end

PROGRAM = "ibv_devinfo"
_LIMIT_SECONDS = 30
_ROW = re.compile(r"^\s*(hca_id|port|state|link_layer):\s+(\S.*?)(?:\s+\(-?\d+\))?\s*$")


class Libibverbs(TypedDict):
    """The ports that libibverbs sees, by device, and what its tool complained of. The ports are None if libibverbs
    could not be queried.
    """

    ports: dict[str, list[dict[str, str]]] | None
    said: str | None


def ports_of(output: str) -> dict[str, list[dict[str, str]]]:
    """The state and link layer of every port, by device. A device does not have a port if the tool says nothing more of
    it.
    """
    by_device: dict[str, list[dict[str, str]]] = {}
    ports: list[dict[str, str]] = []
    for line in output.splitlines():
        match = _ROW.match(line)
        if match is None:
            continue
        name, value = match.groups()
        if name == "hca_id":
            ports = by_device.setdefault(value, [])
        elif name == "port":
            ports.append({})
        elif ports:
            ports[-1][name] = value
    return by_device


def ask_libibverbs(tools: Tools, *, execute: Callable[[Sequence[str], float], Ended] = run_to_end) -> Libibverbs:
    """The ports that libibverbs sees, and the tool's words if it did not end well.

    The ports are None if libibverbs could not be queried. The exit code is useless: one device that cannot be opened,
    such as the Ethernet one, is enough to make it other than 0.
    """
    if PROGRAM in tools.missing:
        return {"ports": None, "said": tools.error or f"{PROGRAM} is not in the package that should have it"}
    ended = execute((PROGRAM,), _LIMIT_SECONDS)
    if ended.code is None or ended.code < 0:
        return {"ports": None, "said": ended.error}
    return {"ports": ports_of(ended.output), "said": ended.error}
