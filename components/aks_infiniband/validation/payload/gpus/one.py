"""One process for one GPU of a node: its identity, NVML's facts, its copies, and the load, at the same time as the
node's others.

The processes of a node begin each part together: each leaves a file in a folder when it comes to it, and waits for
those of the others. Copies between a GPU and the host are made in turns, one GPU at a time, because GPUs share the
host's memory: four at once have 28 to 55 GB/s each, one alone 55 (docs/measurements.md). The findings are written as
the process runs, so that a GPU's last action is known when it hangs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from ..collective.gpu import VENDORS, opened
from ..collective.gpu import Gpu as Runtime
from ..look.kernel import cpus_beside
from ..say.steadiness import spread_of
from .copies import Copies
from .load import under_load
from .nvml import Nvml
from .others import Watch
from .product import Products
from .results import Gpu, Pcie

MEETING_SECONDS = 20.0
"""Time for a GPU to wait for the others of its node to come to the same part; then it continues without them."""
_LOOK_SECONDS = 0.002
_COPY_SECONDS = 30.0
_TURN_SECONDS = _COPY_SECONDS + 5.0
"""Time for a GPU to wait for one whose turn it is: longer than copies may take that come to no end."""
_ADDRESS_BYTES = 32
_HOST_PAGE_TABLES = 100
"""cudaDevAttrPageableMemoryAccessUsesHostPageTables."""


class OneGpu:
    """The findings of one process on its GPU."""

    def __init__(self, number: int, *, count: int, folder: Path) -> None:
        """A GPU of a node with so many GPUs, whose processes meet in a folder."""
        self._number, self._folder = number, folder
        self._awaited = set(range(count))
        self._nvml: Nvml | None = None
        self._watch: Watch | None = None
        self.found: Gpu = {"number": number, "index": None, "pci": None, "uuid": None, "said": []}

    def measure(self, seconds: float, sys_folder: Path) -> None:
        """Everything, the load for so many seconds. Raises OSError, RuntimeError, TimeoutError."""
        self._identify()
        self._stay_near(sys_folder)
        runtime = Runtime(VENDORS[0], self._number)
        if self._watch is not None:
            self._watch.opened()
        copies = Copies(runtime, self._number, limit_seconds=_COPY_SECONDS)
        self._copy(copies, "host")
        self._load(runtime, seconds)
        self._copy(copies, "again")
        self._copy_to_peer(copies)
        if self._nvml is not None:
            self.found["memory"] = self._nvml.memory  # again: the load may have shown what is wrong with it
        self.save()

    def save(self) -> None:
        """Leave what is known so far, whole at any moment."""
        if self._watch is not None:
            self.found["others"] = self._watch.found
        partial = self._folder / f"{self._number}.partial"
        partial.write_text(json.dumps(self.found), encoding="utf-8")
        partial.replace(self._folder / f"{self._number}.json")

    def leave(self) -> None:
        """Let no other GPU wait for this one."""
        (self._folder / f"gone.{self._number}").touch()

    def _identify(self) -> None:
        address = pci_address(self._number)
        self.found["pci"] = address
        self.save()
        try:
            self._nvml = nvml = Nvml(address)
            self._watch = Watch(nvml, counts_memory=not shares_memory(self._number))
            self._watch.before()
            who: Gpu = {"index": nvml.index, "uuid": nvml.uuid, "serial": nvml.serial, "model": nvml.model}
            self.found.update({**who, "pcie": nvml.pcie, "memory": nvml.memory, "nvlinks": nvml.nvlinks})
        except OSError as error:
            self.found["said"].append(f"NVML: {error}")
        self.save()

    def _stay_near(self, sys_folder: Path) -> None:
        """Run on the CPUs next to the GPU, if the kernel names them: the host's memory is taken there."""
        near = cpus_beside(sys_folder, f"bus/pci/devices/{self.found['pci']}")
        if near:
            os.sched_setaffinity(0, near)

    def _copy(self, copies: Copies, part: str) -> None:
        """Copy to and from the host while no other GPU of the node does. The better of two turns counts: something else
        on the host can take bandwidth away for a moment, and nothing gives more than the link has.
        """
        self._meet(part)
        self._await_turn(part)
        for name, made in zip(("to_host", "from_host"), copies.with_host(self._read_pcie)):
            rates, before = spread_of(made), self.found.get(name)
            if rates and (before is None or rates["median"] > before["median"]):  # type: ignore[index]
                self.found[name] = rates  # type: ignore[literal-required]
        (self._folder / f"{part}-done.{self._number}").touch()
        if self._watch is not None:
            self._watch.note()
        self.save()

    def _await_turn(self, part: str) -> None:
        """Wait until every GPU before this one has done its copies, or has gone."""
        for other in sorted(number for number in self._awaited if number < self._number):
            give_up = time.monotonic() + _TURN_SECONDS
            while other not in self._at(f"{part}-done") | self._at("gone") and time.monotonic() < give_up:
                time.sleep(_LOOK_SECONDS)

    def _copy_to_peer(self, copies: Copies) -> None:
        """Last, because a GPU that copies to a broken one can do nothing any more."""
        self._meet("peer")
        others = sorted(self._at("peer") - {self._number})
        if not others:
            return
        peer = next((number for number in others if number > self._number), others[0])
        try:
            rates = spread_of(copies.to_peer(peer) or [])
        except (RuntimeError, TimeoutError) as error:
            self.found["said"].append(f"copy to GPU {peer}: {error}")
            return
        if rates:
            self.found["to_peer"] = rates
        else:
            self.found["said"].append("GPUs of this node do not reach each other's memory")

    def _read_pcie(self) -> None:
        """Keep the best that is seen while data moves: at rest the link may be slower."""
        if self._nvml is not None:
            now, before = self._nvml.pcie, self.found["pcie"]
            best: Pcie = {**now, "generation": _larger(now["generation"], before["generation"])}
            self.found["pcie"] = best

    def _load(self, runtime: Runtime, seconds: float) -> None:
        try:
            products = Products(runtime, self._number)
        except OSError as error:
            self.found["said"].append(f"products: {error}")
            return
        self._meet("load")
        self.found["load"] = under_load(runtime, products, self._nvml, self._watch, seconds)
        self.save()

    def _meet(self, part: str) -> None:
        """Wait until every GPU of the node has come to a part, or has gone; for one that never comes, once."""
        (self._folder / f"{part}.{self._number}").touch()
        give_up = time.monotonic() + MEETING_SECONDS
        while absent := self._awaited - self._at(part) - self._at("gone"):
            if time.monotonic() > give_up:
                self._awaited -= absent
            time.sleep(_LOOK_SECONDS)

    def _at(self, part: str) -> set[int]:
        """The GPUs that have come to a part."""
        return {int(path.suffix[1:]) for path in self._folder.glob(f"{part}.*")}


def pci_address(number: int) -> str:
    """The PCI address of a GPU, as sysfs writes it. Raises OSError, RuntimeError."""
    library = opened(VENDORS[0].runtime)
    text = ctypes.create_string_buffer(_ADDRESS_BYTES)
    code = library.cudaDeviceGetPCIBusId(text, _ADDRESS_BYTES, number)
    if code:
        library.cudaGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"CUDA error: {library.cudaGetErrorString(code).decode()}")
    return text.value.decode().lower()


def shares_memory(number: int) -> bool:
    """True if the kernel may keep its own data in a GPU's memory, as on GB200 and GB300 (assumed): then memory in use
    does not show other work. A runtime that does not say is one of another kind.
    """
    attribute = ctypes.c_int()
    code = opened(VENDORS[0].runtime).cudaDeviceGetAttribute(ctypes.byref(attribute), _HOST_PAGE_TABLES, number)
    return code == 0 and bool(attribute.value)


def _larger(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def main(argv: Sequence[str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    parser = argparse.ArgumentParser(prog="one", description=__doc__)
    parser.add_argument("--gpu", required=True, type=int, help="CUDA's number of the GPU")
    parser.add_argument("--count", required=True, type=int, help="how many GPUs the node has")
    parser.add_argument("--seconds", required=True, type=float, help="of load")
    parser.add_argument("--folder", required=True, type=Path, help="the folder in which the processes of a node meet")
    parser.add_argument("--sys", required=True, type=Path, help="/sys")
    arguments = parser.parse_args(argv)
    one = OneGpu(arguments.gpu, count=arguments.count, folder=arguments.folder)
    try:
        one.measure(arguments.seconds, arguments.sys)
    except (OSError, RuntimeError):
        traceback.print_exc()
        return 1
    finally:
        one.leave()
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # a GPU that is stuck keeps the libraries' own farewell waiting
