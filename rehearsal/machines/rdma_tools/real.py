"""Hands a tool over to the virtual machine of real tools, if a rehearsal has one (rehearsal/real_tools/pods.py)."""

import _socket
import json
import os

from rehearsal.machines.rdma_tools import proc_net
from rehearsal.machines.rdma_tools.machine import Machine, options

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Iterator
    from typing import Any, Final

SOCKET: "Final" = "machines/wire/real-tools"
"""A path in the run folder that programs of pods may write: there, if and only if real tools are to run."""


def are_there(run: "str | None") -> bool:
    """True if this rehearsal's tools are the real ones."""
    return run is not None and os.path.exists(f"{run}/{SOCKET}")  # noqa: PTH110


def hand_over(program: str, arguments: "list[str]") -> "int | None":
    """Run the real tool and pass on its words as they come; returns its exit code, None if tools are simulated."""
    if not are_there(os.environ.get("AKS_INFINIBAND_REHEARSAL")):
        return None
    machine, port = Machine(), options(arguments, {"-p": "--port"})[0].get("--port")
    devices = [each.device for each in machine.ports() if each.infiniband]
    sockets, code = proc_net.Sockets(), None
    for words in _asked(machine, program, arguments, devices, int(port) if port else None):
        if "output" in words:
            os.write(1, words["output"].encode())
        elif "sockets" in words:
            sockets.mirror(words["sockets"])
        else:
            code = words["code"]
    return 1 if code is None else code


def reach(run: str, node: str, own: str, host: str, port: int) -> bool:
    """Connect to a server in the virtual machine and hang up; returns whether one listens."""
    asked = {"program": "reach", "arguments": [host, str(port)], "node": node, "address": own}
    return any(words.get("code") == 0 for words in _words(run, {**asked, "devices": [], "port": None}))


def _asked(
    machine: Machine, program: str, arguments: "list[str]", devices: "list[str]", port: "int | None"
) -> "Iterator[dict[str, Any]]":
    asked = {"program": program, "arguments": arguments, "devices": devices, "port": port}
    return _words(machine.run, {**asked, "node": machine.node, "address": machine.address})


def _words(run: str, asked: "dict[str, Any]") -> "Iterator[dict[str, Any]]":
    """Send the request, and give the answers until the other side hangs up."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    folder, _, name = f"{run}/{SOCKET}".rpartition("/")
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{descriptor}/{name}")  # the kernel takes no path above 107 bytes
    finally:
        os.close(descriptor)
    with os.fdopen(connection.detach(), "r+b", buffering=0) as file:
        file.write(json.dumps(asked).encode() + b"\n")
        with os.fdopen(os.dup(file.fileno()), encoding="utf-8") as answers:
            for line in answers:
                yield json.loads(line)
