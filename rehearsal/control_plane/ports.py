"""Free ports on the loopback interface."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager


@contextmanager
def held_ports(names: Iterable[str]) -> Iterator[Mapping[str, int]]:
    """One free loopback port per name, all different, which no other program gets while the context lasts.

    A part listens long after its port was chosen, when others are ready. Until then another program on a busy machine
    would get the port; so it stays bound here, without a listener. The parts share it (SO_REUSEPORT), which the kernel
    allows to programs of the same user that all set this option.
    """
    with ExitStack() as held:
        ports: dict[str, int] = {}
        for name in names:
            place = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            place.bind(("127.0.0.1", 0))
            ports[name] = place.getsockname()[1]
        yield ports
