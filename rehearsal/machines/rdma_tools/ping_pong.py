"""Simulated ibv_rc_pingpong: what the program of libibverbs' examples prints (rdma-core 44, its format strings).

Figures as measured on A100 v4: 8.57 us an iteration and 7643.57 Mbit/sec (Azure/aks-rdma-infiniband, tests/
expected-output.md).
"""

import sys
import time

from rehearsal.machines.rdma_tools import wire
from rehearsal.machines.rdma_tools.machine import Machine, Port, options

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_MICROSECONDS: "Final" = 8.57
_ITERATIONS: "Final" = 1000
_BYTES: "Final" = 4096


def main(arguments: list[str]) -> int:
    """Run it; returns its exit code."""
    given, rest = options(arguments, {"-d": "--ib-dev", "-p": "--port", "-l": "--sl"})
    name, number = given.get("--ib-dev"), int(given.get("--port") or 18515)
    machine = Machine()
    port = machine.port(name)
    if port is None:
        print(f"IB device {name} not found" if name else "No IB devices found", file=sys.stderr)
        return 1
    if machine.fault("hang", port.device):
        while True:
            time.sleep(3600)
    if not machine.locks(_BYTES):
        print("Couldn't register MR", file=sys.stderr)
        return 1
    print(f"  local address:  LID 0x{port.lid:04x}, QPN 0x0001c7, PSN 0x5f9cc0, GID ::", flush=True)
    try:
        peer = _listen(machine, number) if not rest else wire.connect(machine.run, rest[0], number)
        mine = _mine(machine, port)
        peer.say(**mine)
        other = peer.hear()
    except wire.InUseError:
        print(f"Couldn't listen to port {number}", file=sys.stderr)
        return 1
    except wire.NobodyError:
        said = f"Couldn't connect to {rest[0]}:{number}" if rest else "pingpong_exch_dest: Couldn't read remote address"
        print(said, file=sys.stderr)
        return 1
    print(f"  remote address: LID 0x{int(other['lid']):04x}, QPN 0x0001c8, PSN 0x31b8bc, GID ::", flush=True)
    lost = int(other["partition"]) != port.partition or (given.get("--sl") or "0") != machine.service_level
    if lost or "DOWN" in (port.state, other["state"]):
        if rest:
            print("Failed status transport retry counter exceeded (12) for wr_id 2", file=sys.stderr)
        return 1
    latency = _MICROSECONDS * max(mine["factor"], float(other["factor"]))
    seconds = latency * _ITERATIONS / 1e6
    moved = 2 * _BYTES * _ITERATIONS
    speed = moved * 8 / seconds / 1e6
    print(f"{moved} bytes in {seconds:.2f} seconds = {speed:.2f} Mbit/sec")
    print(f"{_ITERATIONS} iters in {seconds:.2f} seconds = {latency:.2f} usec/iter")
    return 0


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
    }
