"""Simulated sockperf: server, ping-pong and throughput over TCP, with what version 3.7 prints (run here).

Figures as measured on A100 v4 (Azure/aks-rdma-infiniband, tests/expected-output.md): over IPoIB 44.475 us, 593397
messages/s and 6664.126 Mb/s, over the pod network 83.147 us, 127096 messages/s and 1427.348 Mb/s.
"""

import os

from rehearsal.machines.rdma_tools import wire
from rehearsal.machines.rdma_tools.machine import Machine, Port, options

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

IPOIB: "Final" = "REHEARSAL_IPOIB"
"""The variable that names a pod's interfaces over IPoIB: name/address/device, with commas."""
_DOWN: "Final" = "down"
_VERSION: "Final" = "\x1b[2;35m== version #3.7-no.git == \x1b[0m"
_BUFFERS: "Final" = 3.93e6
"""Bytes that a client sends to a server that takes none in: the kernels' buffers (tests/field_recordings)."""
_IPOIB: "Final" = {"latency": 44.475, "rate": 593397.0}
_POD_NETWORK: "Final" = {"latency": 83.147, "rate": 127096.0}


def main(arguments: list[str]) -> int:
    """Run it; returns its exit code, which is 0 also after an error before it is connected."""
    if arguments[:1] == ["--version"]:
        print("sockperf, version 3.7-no.git \n   compiled 2021-08-23 12:14:23")
        return 0
    mode, *rest = arguments
    values, _ = options(rest, {"-i": "--ip", "-p": "--port", "-t": "--time", "-m": "--msg-size"})
    address, port = values.get("--ip", ""), int(values.get("--port") or 11111)
    size, seconds = int(values.get("--msg-size") or 14), float(values.get("--time") or 1)
    machine = Machine()
    print(f"sockperf: {_VERSION}", flush=True)
    if mode == "server":
        return _server(machine, address, port)
    try:
        peer = machine.connect(address, port)
    except wire.NobodyError as error:
        reason = "110 Connection timed out" if isinstance(error, wire.UnansweredError) else "111 Connection refused"
        print(f"sockperf: ERROR: Can`t connect socket (errno={reason})")
        return 0
    return _client(machine, peer, mode, (address, port), (size, seconds))


def _client(machine: Machine, peer: wire.Peer, mode: str, server: "tuple[str, int]", asked: "tuple[int, float]") -> int:
    """The work of a client that is connected. If a server takes nothing in, the client says so only if it gets
    answers.
    """
    (address, port), (size, seconds) = server, asked
    mine = _mine(machine, address)
    is_answered = mode == "ping-pong"
    head = "sockperf[CLIENT] send on:" + "sockperf: using recvfrom() to block on socket(s)\n" * is_answered
    head += f"\n[ 0] IP = {address:<15} PORT = {port:5d} # TCP"
    warm = "sockperf: Warmup stage (sending a few dummy messages)...\nsockperf: Starting test..."
    end = "sockperf: Test end (interrupted by timer)\nsockperf: Test ended"
    try:
        peer.say(**mine)
        if not peer.says_something(seconds):
            print(f"{head}\n{warm}\n{end}")
            if is_answered:
                print("sockperf: No messages were received from the server. Is the server down?")
            else:
                _rate(_BUFFERS / size / seconds, size, seconds)
            return 0
        other = peer.hear()
    except wire.NobodyError:
        closed = "sockperf: ERROR: A connection was forcibly closed by a peer (errno=0 Success)"
        print(f"{head}\n{warm}\nIP = {address:<15} PORT = {port:5d} # TCP {closed}")
        return 7
    if not _meet(_path(machine, other["interface"]), other["path"]):
        # The kernel's words if its question for the other's address gets no answer.
        print("sockperf: ERROR: Can`t connect socket (errno=113 No route to host)")
        return 0
    figures = _POD_NETWORK if address == other["pod"] else _IPOIB
    factor = min(mine["factor"], float(other["factor"])) if figures is _IPOIB else 1.0
    print(f"{head}\n{warm}\n{end}")
    if is_answered:
        _ping_pong(figures["latency"] / factor, seconds)
    else:
        _rate(figures["rate"] * factor, size, seconds)
    peer.say(done=1)
    return 0


def _server(machine: Machine, address: str, port: int) -> int:
    try:
        listener = wire.Listener(machine.run, address, port)
    except wire.InUseError:
        bind = f"Can`t bind socket, IP to bind: {address}:{port}\n (errno=98 Address already in use)"
        print(f"sockperf: ERROR: [fd=3] {bind}\nsockperf: cleanupAfterLoop() exit")
        return 0
    listening = f"sockperf: [SERVER] listen on:\n[ 0] IP = {address:<15} PORT = {port:5d} # TCP\n"
    warm = "sockperf: Warmup stage (sending a few dummy messages)...\n"
    print(f"{listening}{warm}sockperf: [tid {os.getpid()}] using recvfrom() to block on socket(s)", flush=True)
    while True:
        peer = listener.accept()
        try:
            peer.hear()
            peer.say(**_mine(machine, address))
            peer.hear()
        except wire.NobodyError:
            continue


def _mine(machine: Machine, address: str) -> "dict[str, Any]":
    slow = machine.fault("slow-ipoib") if address != machine.address else None
    known = (name for name, own, _ in _interfaces() if own == address)
    interface = next(known, "eth0")
    factor = slow["factor"] if slow else 1.0
    return {"pod": machine.address, "factor": factor, "interface": interface, "path": _path(machine, interface)}


def _interfaces() -> "list[list[str]]":
    return [entry.split("/") for entry in os.environ.get(IPOIB, "").split(",") if entry]


def _path(machine: Machine, interface: str) -> str:
    """The way of packets of an interface: none, if its port is down, else into a partition of a fabric."""
    device = next((device for name, _, device in _interfaces() if name == interface), None)
    if device is None:
        return "ethernet"
    port = Port(f"{machine.sys}/class/infiniband/{device}")
    fabric = "elsewhere" if machine.fault("placement-group") else "here"
    return f"{fabric}-{port.partition}" if port.state == "ACTIVE" else _DOWN


def _meet(one: str, other: str) -> bool:
    """True if two interfaces reach each other."""
    return _DOWN not in (one, other) and one == other


def _ping_pong(latency: float, seconds: float) -> None:
    count = int((seconds - 0.45) * 1e6 / latency / 2)
    print(
        f"sockperf: [Total Run] RunTime={seconds + 0.001:.3f} sec; Warm up time=400 msec; SentMessages={count + 900}; "
        f"ReceivedMessages={count + 899}\n"
        "sockperf: ========= Printing statistics for Server No: 0\n"
        f"sockperf: [Valid Duration] RunTime={seconds - 0.45:.3f} sec; SentMessages={count}; ReceivedMessages={count}\n"
        f"sockperf: \x1b[2;35m====> avg-latency={latency:.3f} (std-dev=8.246)\x1b[0m\n"
        "sockperf: # dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0\n"
        f"sockperf: Summary: Latency is {latency:.3f} usec\n"
        f"sockperf: \x1b[2;35mTotal {count} observations\x1b[0m; "
        f"each percentile contains {count / 100:.2f} observations\n"
        f"sockperf: ---> <MAX> observation = {latency * 15:.3f}\n"
        f"sockperf: ---> percentile 50.000 = {latency * 0.976:8.3f}\n"
        f"sockperf: ---> <MIN> observation = {latency * 0.806:8.3f}"
    )


def _rate(rate: float, size: int, seconds: float) -> None:
    megabytes = rate * size / 2**20
    print(
        f"sockperf: Total of {int(rate * seconds)} messages sent in {seconds:.3f} sec\n\n"
        f"sockperf: Summary: Message Rate is {rate:.0f} [msg/sec]\n"
        f"sockperf: Summary: BandWidth is {megabytes:.3f} MBps ({megabytes * 8:.3f} Mbps)"
    )
