"""An address at which an API server is not there at first: its first connections are closed, later ones carried on."""

import contextlib
import socket
import socketserver
import threading
from itertools import count
from typing import Final

CLOSED: Final = 2
"""How many connections are closed. A load balancer does so while the API server behind it starts."""
_CHUNK: Final = 1 << 16


def late_door(port: int) -> int:
    """Listen on loopback for an API server until this process ends. port: its own; returns the door's."""
    numbers = count()

    class Visitor(socketserver.BaseRequestHandler):
        """One connection, in a thread of its own."""

        def handle(self) -> None:
            if next(numbers) >= CLOSED:
                _carry(self.request, port)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Visitor)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name=f"door to port {port}", daemon=True).start()
    return int(server.server_address[1])


def _carry(visitor: socket.socket, port: int) -> None:
    """Carry bytes both ways until one side has no more."""
    with socket.create_connection(("127.0.0.1", port)) as inside:
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
