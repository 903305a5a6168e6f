"""The kernel's view of TCP connections (/proc/net/tcp): servers that listen, and clients that get through.

A tool that hangs says nothing of it. The view distinguishes a connection that something on the way drops (a network
policy) from an HCA that does not answer.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ESTABLISHED, SYN_SENT, LISTEN = "ESTABLISHED", "SYN_SENT", "LISTEN"
_STATES = {"01": ESTABLISHED, "02": SYN_SENT, "0A": LISTEN}
"""Names of states by number (Linux, include/net/tcp_states.h), without those that do not help here."""
_SHORT = 8
"""Hexadecimal digits of an IPv4 address. An IPv6 address has 32; if it stands for an IPv4 address, the last eight are
that address.
"""


class Connection(NamedTuple):
    """One socket: its own port, the other end's address and port, and its state."""

    port: int
    peer: str
    peer_port: int
    state: str


def connections(proc: Path) -> list[Connection]:
    """The sockets of this network namespace that listen, connect or are connected. The list is empty if they cannot be
    read.
    """
    seen = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            lines = (proc / "net" / name).read_text(encoding="ascii").splitlines()[1:]
            seen += [_connection(line.split()) for line in lines if line.split()[3] in _STATES]
    return seen


def _connection(fields: list[str]) -> Connection:
    port = int(fields[1].partition(":")[2], 16)
    peer, _, peer_port = fields[2].partition(":")
    address = socket.inet_ntoa(int(peer[-_SHORT:], 16).to_bytes(4, "little"))
    return Connection(port, address, int(peer_port, 16), _STATES[fields[3]])


def states_of_server(seen: Iterable[Connection], port: int) -> set[str]:
    """The states of the sockets of a server on a port."""
    return {connection.state for connection in seen if connection.port == port}


def states_of_client(seen: Iterable[Connection], address: str, port: int) -> set[str]:
    """The states of the connections to a server."""
    return {connection.state for connection in seen if (connection.peer, connection.peer_port) == (address, port)}


def knock(address: str, port: int, timeout_seconds: float) -> None:
    """Connect to a server and hang up. A server whose client never came then ends, and says why."""
    with contextlib.suppress(OSError):
        socket.create_connection((address, port), timeout=timeout_seconds).close()
