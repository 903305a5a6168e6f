"""On a simulated machine ctypes opens simulated GPU libraries: real ones would lack a driver. A program may use all
CPUs of the machine: it binds itself, or what it starts, to those by a variable. And a connection to a pod goes to the
sockets of simulated programs (rdma_tools/wire.py), since no packet leaves this computer.

Python imports this module when it starts. The module waits for an import of ctypes, which is rare in programs, and of
socket.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:  # takes long to import
    from collections.abc import Iterable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_LIBRARIES = {
    "cuda": {
        "libcudart.so.13": "cuda",
        "libcuda.so.1": "cuda",
        "libnccl.so.2": "nccl",
        "libcublas.so.13": "cublas",
        "libnvidia-ml.so.1": "nvml",
    },
    "rocm": {"/opt/rocm/lib/libamdhip64.so.7": "hip", "/opt/rocm/lib/librccl.so.1": "nccl"},
}[os.environ.get("REHEARSAL_GPU_LIBRARIES", "cuda")]
"""The libraries of the container's image."""


class _Wait:
    """A finder that is called for every module and has something to add to two."""

    @staticmethod
    def find_spec(name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        """Find such a module in its place, and change it once it is there."""
        if name not in _CHANGES:
            return None
        spec = PathFinder.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def exec_module(module: "ModuleType") -> None:
            execute(module)
            _CHANGES[name](module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _simulate(ctypes: "Any") -> None:
    class CDLL(ctypes.CDLL):  # type: ignore[misc]
        """A library of the image, or a simulated one."""

        def __new__(cls, name: "str | None" = None, *_: "Any", **__: "Any") -> "Any":
            return _simulated(_LIBRARIES[name]) if name in _LIBRARIES else super().__new__(cls)

    ctypes.CDLL = CDLL


def _connect_to_pods(module: "Any") -> None:
    genuine = module.create_connection

    def create_connection(address: "tuple[str, int]", *arguments: "Any", **options: "Any") -> "Any":
        """Reach a pod's simulated server. Raises ConnectionRefusedError."""
        if address[0].startswith("127.") or address[0] == os.environ.get("KUBERNETES_SERVICE_HOST"):
            return genuine(address, *arguments, **options)
        wire = _ours("rehearsal.machines.rdma_tools.wire")
        try:
            return module.socket(fileno=wire.dial(os.environ["AKS_INFINIBAND_REHEARSAL"], *address))
        except wire.NobodyError as error:
            ended = _reached(module, address)
            if ended is None:
                raise ConnectionRefusedError(str(error)) from error
            return ended

    module.create_connection = create_connection


def _reached(module: "Any", address: "tuple[str, int]") -> "Any":
    """A connection that the other end has closed, if a real tool listened; None if none did."""
    real, run = _ours("rehearsal.machines.rdma_tools.real"), os.environ["AKS_INFINIBAND_REHEARSAL"]
    own = os.environ["REHEARSAL_NODE"], os.environ["REHEARSAL_POD_IP"]
    return module.socketpair()[0] if real.are_there(run) and real.reach(run, *own, *address) else None


def _simulated(name: str) -> "Any":
    return _ours(f"rehearsal.machines.gpu_libraries.{name}")


def _ours(module: str) -> "Any":
    # A container's Python knows this folder alone; the machine's tools are next to it.
    root = os.path.realpath(__file__).rsplit("/", 4)[0]  # pathlib takes long to import
    if root not in sys.path:
        sys.path.append(root)
    return import_module(module)


def _cpus(_pid: int) -> "set[int]":
    """The CPUs that a program is bound to; by default all that the machine has."""
    if bound := os.environ.get(_BOUND):
        return {int(cpu) for cpu in bound.split(",")}
    nodes = f"{os.environ['REHEARSAL_MACHINE']}/sys/devices/system/node"
    cpus: set[int] = set()
    for node in os.listdir(nodes):  # noqa: PTH208
        with open(f"{nodes}/{node}/cpulist", encoding="utf-8") as file:  # noqa: PTH123
            first, last = map(int, file.read().split("-"))
        cpus.update(range(first, last + 1))
    return cpus


def _bind(_pid: int, cpus: "Iterable[int]") -> None:
    os.environ[_BOUND] = ",".join(map(str, sorted(cpus)))


_CHANGES = {"ctypes": _simulate, **({"socket": _connect_to_pods} if "REHEARSAL_POD_IP" in os.environ else {})}
_BOUND = "REHEARSAL_CPUS"
"""As in `rdma_tools/machine.py`, which tools read it with."""
if os.path.isdir(f"{os.environ.get('REHEARSAL_MACHINE')}/sys/devices/system/node"):  # noqa: PTH112
    os.sched_getaffinity = _cpus
    os.sched_setaffinity = _bind
sys.meta_path.insert(0, _Wait)
