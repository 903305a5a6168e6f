"""Free ports on the loopback interface."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import ExitStack


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """One free loopback port per name, all different.

    The ports are held while they are chosen and released together: the kernel hands out ports for listening and for
    outgoing connections from different halves of its range, so another program is unlikely to take one in the moment
    before its owner listens; if one does, that part fails at start and its log says so.
    """
    with ExitStack() as held:
        ports: dict[str, int] = {}
        for name in names:
            listener = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            listener.bind(("127.0.0.1", 0))
            ports[name] = listener.getsockname()[1]
        return ports
