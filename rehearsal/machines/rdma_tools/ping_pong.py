"""Simulated ibv_rc_pingpong: what the program of libibverbs' examples prints (rdma-core 44, its format strings).

Figures as measured on A100 v4: 8.57 us an iteration and 7643.57 Mbit/sec (Azure/aks-rdma-infiniband, tests/
expected-output.md).
"""

import sys
import time

from rehearsal.machines.rdma_tools import real, wire
from rehearsal.machines.rdma_tools.machine import Machine, Port, buffer_as_asked, options
from rehearsal.machines.rdma_tools.perftest import lost

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_MICROSECONDS: "Final" = 8.57
_ITERATIONS: "Final" = 1000
_BYTES: "Final" = 4096
_NOT_READY: "Final" = "Failed to modify QP to RTR\nCouldn't connect to remote QP"
"""The words of an end whose port is down."""


def main(arguments: list[str]) -> int:
    """Run it; returns its exit code."""
    if (code := real.hand_over("ibv_rc_pingpong", arguments)) is not None:
        return code
    buffer_as_asked()
    values, rest = options(arguments, {"-d": "--ib-dev", "-p": "--port", "-l": "--sl"})
    name, number = values.get("--ib-dev"), int(values.get("--port") or 18515)
    machine = Machine()
    port = machine.port(name)
    if port is None:
        return _fails(f"IB device {name} not found" if name and machine.verbs() else "No IB devices found")
    if machine.fault("hang", port.device):
        _wait_for_ever()
    if not machine.locks(_BYTES):
        return _fails("Couldn't register MR")
    print(f"  local address:  LID 0x{port.lid:04x}, QPN 0x0001c7, PSN 0x5f9cc0, GID ::")
    mine = _mine(machine, port)
    other = _exchange(machine, mine, rest[0] if rest else "", number)
    if isinstance(other, str):
        return _fails(other)
    print(f"  remote address: LID 0x{int(other['lid']):04x}, QPN 0x0001c8, PSN 0x31b8bc, GID ::")
    off = int(other["partition"]) != port.partition or (values.get("--sl") or "0") != machine.service_level
    if off or lost(machine, port, other):
        if not rest:
            _wait_for_ever()  # the server polls for what will never come
        return _fails("Failed status transport retry counter exceeded (12) for wr_id 2\nparse WC failed 2")
    _report(_MICROSECONDS * max(mine["factor"], float(other["factor"])))
    return 0


def _wait_for_ever() -> None:
    while True:
        time.sleep(3600)


def _report(latency: float) -> None:
    seconds = latency * _ITERATIONS / 1e6
    moved = 2 * _BYTES * _ITERATIONS
    speed = moved * 8 / seconds / 1e6
    print(f"{moved} bytes in {seconds:.2f} seconds = {speed:.2f} Mbit/sec")
    print(f"{_ITERATIONS} iters in {seconds:.2f} seconds = {latency:.2f} usec/iter")


def _exchange(machine: Machine, mine: "dict[str, Any]", host: str, number: int) -> "dict[str, str] | str":
    """Exchange words with the other end, and hang up; returns its words, or this end's last ones."""
    try:
        peer = machine.connect(host, number) if host else _listen(machine, number)
    except wire.InUseError:
        return f"Couldn't listen to port {number}"
    except wire.NobodyError:
        return f"Couldn't connect to {host}:{number}"
    try:
        return _as_client(peer, mine) if host else _as_server(peer, mine)
    finally:
        peer.close()


def _as_client(peer: wire.Peer, mine: "dict[str, Any]") -> "dict[str, str] | str":
    try:
        peer.say(**mine)
        other = peer.hear()
    except wire.NobodyError:
        return "client read/write: No space left on device\nCouldn't read/write remote address"
    return other if mine["state"] == "ACTIVE" else _NOT_READY


def _as_server(peer: wire.Peer, mine: "dict[str, Any]") -> "dict[str, str] | str":
    """The server makes its queue pair ready before it answers."""
    try:
        other = peer.hear()
    except wire.NobodyError:
        return "server read: No such file or directory\n0/52: Couldn't read remote address"
    if mine["state"] != "ACTIVE":
        return _NOT_READY
    try:
        peer.say(**mine)
    except wire.NobodyError:
        return "Couldn't send/recv local address"
    return other


def _fails(said: str) -> int:
    print(said, file=sys.stderr)
    return 1


def _listen(machine: Machine, number: int) -> wire.Peer:
    if machine.fault("port-in-use"):
        raise wire.InUseError
    listener = wire.Listener(machine.run, machine.address, number)
    try:
        return listener.accept()
    finally:
        listener.close()


def _mine(machine: Machine, port: Port) -> "dict[str, Any]":
    late = machine.fault("latency", port.device)
    return {
        "partition": port.partition,
        "lid": port.lid,
        "state": port.state,
        "factor": late["factor"] if late else 1,
        "lost": int(bool(machine.fault("packets-lost", port.device))),
    }
