"""Finds the HCAs of a machine that share a PCIe link and are in use at the same moment.

A tool that uses one holds a lock on a file in the machine's folder. One that sees another's lock marks that other as
met, so that both know, though the first may be gone when the second looks. Tests for a time that began within a minute
of each other have met in any case: a busy machine starts programs later than a real one does.
"""

import fcntl
import os
import time

from rehearsal.machines.rdma_tools.machine import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Final

_LOOK_SECONDS: "Final" = 0.02
_FOR_A_TIME: "Final" = ".for-a-time."
_PATIENCE_SECONDS: "Final" = 60
"""Time for which a test for a time awaits others, and has met one that is gone."""


def share(machine: Machine, device: str, *, for_a_time: bool) -> float:
    """The share that is left to an HCA, from now to this program's end, of its rate alone. for_a_time: await others."""
    fault = machine.fault("shared-pcie", device)
    if fault is None:
        return 1.0
    folder = f"{machine.root}/pcie/{fault.get('device', '*')}"
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    own = f"{device}{_FOR_A_TIME if for_a_time else '.'}{os.getpid()}.{time.monotonic_ns()}"
    fcntl.flock(os.open(f"{folder}/{own}", os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)
    until = time.monotonic() + (_PATIENCE_SECONDS if for_a_time else 0)
    while True:
        others = [name for name in os.listdir(folder) if not name.startswith((f"{device}.", "met-"))]  # noqa: PTH208
        others = [name for name in others if _held(folder, name) or (for_a_time and _began_lately(folder, name))]
        for name in others:
            os.close(os.open(f"{folder}/met-{name}", os.O_CREAT))
        if others or os.path.exists(f"{folder}/met-{own}"):  # noqa: PTH110
            return float(fault["factor"])
        if time.monotonic() >= until:
            return 1.0
        time.sleep(_LOOK_SECONDS)


def _began_lately(folder: str, name: str) -> bool:
    began = os.stat(f"{folder}/{name}").st_mtime  # noqa: PTH116
    return _FOR_A_TIME in name and time.time() - began < _PATIENCE_SECONDS


def _held(folder: str, name: str) -> bool:
    """True if the program that made the file still runs."""
    descriptor = os.open(f"{folder}/{name}", os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
