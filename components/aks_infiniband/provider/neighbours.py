"""A check that a connection comes from this user: the engine reaches its providers on loopback, which every local user
can reach.

The engine takes a port and nothing else of a provider: no Unix socket, no secret. The kernel's table of sockets names
the owner of the other end of a connection (Linux, Documentation/networking/proc_net_tcp.rst). A rehearsal's simulated
Azure reads it here, too, and the part that is built into its engine (rehearsal/tools/doors/own_user.go) reads the same.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED: Final = 1
"""TCP_ESTABLISHED (Linux, include/net/tcp_states.h)."""

Address = tuple[str, int]
"""An IP address, of version 4 if it can be, and a port."""


def is_own(connection: socket.socket) -> bool:
    """True if the other end of a connection that was accepted belongs to this user, and is open."""
    try:
        there, here = connection.getpeername(), connection.getsockname()
        uid = owner(table(), local=(there[0], there[1]), remote=(here[0], here[1]))
        # As long as our end is established, no other socket can have the other end's addresses: so it is read last.
        return uid == os.geteuid() and _is_established(connection)
    except OSError:  # it is closed already
        return False


def is_known() -> bool:
    """True if this computer's kernel reports the owner of a connection."""
    return any(place.exists() for place in _TABLES)


def table() -> list[str]:
    """The kernel's table of sockets, without its heading."""
    return [line for place in _TABLES if place.exists() for line in place.read_text().splitlines()[1:]]


def owner(rows: Iterable[str], *, local: Address, remote: Address) -> int | None:
    """The user of the socket that is connected from one address to another; None if there is none.

    Both count: the kernel gives one local port to several connections that go to different places.
    rows: of the kernel's table, without its heading.
    """
    port = f":{local[1]:04X} "
    for row in (row for row in rows if port in row):  # the others need not be taken apart
        fields = row.split()
        # A socket that its program has closed is in another state, and the table gives it to root.
        if len(fields) <= 9 or int(fields[3], 16) != _ESTABLISHED:
            continue
        if _address(fields[1]) == local and _address(fields[2]) == remote:
            return int(fields[7])
    return None


def _is_established(connection: socket.socket) -> bool:
    # The first byte of struct tcp_info (<linux/tcp.h>) is the state.
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _ESTABLISHED


def _address(text: str) -> Address:
    """An address of the table: words of 32 bits in this computer's own order of bytes, and the port."""
    digits, _, port = text.partition(":")
    words = [int(digits[start : start + 8], 16) for start in range(0, len(digits), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    return _plain(ipaddress.ip_address(packed)), int(port, 16)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
