"""Addresses on loopback behind which something else serves: the admission of visitors, and the way of bytes
both ways.
"""

import contextlib
import logging
import os
import socket
import socketserver
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from aks_infiniband.provider.neighbours import is_own

_LOG: Final = logging.getLogger(__name__)
CLOSED: Final = 2
"""The number of connections that a late door closes. A load balancer does so while the API server behind it starts."""
_CHUNK: Final = 1 << 16


def late_door(port: int) -> int:
    """An address at which an API server is not there at first. port: its own; returns the door's."""
    numbers = count()
    door = _open(lambda _: next(numbers) >= CLOSED, lambda: socket.create_connection(("127.0.0.1", port)))
    return int(door.server_address[1])


class OwnDoor:
    """A door for this user's processes, and a Unix socket behind it, on which to serve."""

    def __init__(self, folder: Path) -> None:
        """folder: of the socket, which must be this user's alone."""
        # The address of a Unix socket has 107 bytes at most; a folder's path may be longer.
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self.inside = f"/proc/self/fd/{self._folder}/own-door"
        self._door = _open(_is_own, self._enter)
        self.port = int(self._door.server_address[1])

    def close(self) -> None:
        """Admit no more visitors."""
        self._door.shutdown()
        self._door.server_close()
        os.close(self._folder)

    def _enter(self) -> socket.socket:
        inside = socket.socket(socket.AF_UNIX)
        inside.bind("")  # the kernel gives it a name, which distinguishes its calls from those of other connections
        inside.connect(self.inside)
        return inside


def _is_own(visitor: socket.socket) -> bool:
    own = is_own(visitor)
    if not own:
        _LOG.warning("closed a connection of another user of this computer")
    return own


def _open(
    admits: Callable[[socket.socket], bool], enter: Callable[[], socket.socket]
) -> socketserver.ThreadingTCPServer:
    """Listen on loopback until this process ends, or the door is shut down.

    admits: True if a visitor may enter; else the connection is closed. enter: connects to the server behind.
    """

    class Visitor(socketserver.BaseRequestHandler):
        """One connection, in a separate thread."""

        def handle(self) -> None:
            if admits(self.request):
                _carry(self.request, enter)

    door = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Visitor)
    door.daemon_threads = True
    threading.Thread(target=door.serve_forever, name=f"door at port {door.server_address[1]}", daemon=True).start()
    return door


def _carry(visitor: socket.socket, enter: Callable[[], socket.socket]) -> None:
    """Carry bytes both ways until one side is at its end."""
    visitor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # small answers are not held back
    with enter() as inside:
        back = threading.Thread(target=_pump, args=(inside, visitor), daemon=True)
        back.start()
        _pump(visitor, inside)
        back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(_CHUNK):
            sink.sendall(chunk)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
