"""The ports at which a pod's servers listen."""

from __future__ import annotations

import socket

PORTS = 64
"""Ports that one step may use, from a pod's own first one on."""
_FIRST_PORT = 18515
"""perftest's own."""
_LAST_PORT = 32000
"""Below the ports that the kernel gives to clients (ip_local_port_range, 32768 by default)."""


def free_ports() -> int:
    """The first of PORTS consecutive ports of this pod on which no process listens. Raises OSError if none is free."""
    for first in range(_FIRST_PORT, _LAST_PORT, PORTS):
        if all(_is_free(port) for port in range(first, first + PORTS)):
            return first
    raise OSError(f"no {PORTS} free ports in a row between {_FIRST_PORT} and {_LAST_PORT}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
