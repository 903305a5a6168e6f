"""Processes that exchange values through rank 0, over a socket in the run folder. A value is what JSON can say."""

import contextlib
import json
import math
import socket
import struct
import time
from typing import Any

from rehearsal.machines.gpu_libraries.machine import Machine, wire

_RETRY_SECONDS = 0.05
_LENGTH = struct.Struct("!I")


class StarError(Exception):
    """A peer has gone."""


class Star:
    """One end of the exchange."""

    def __init__(self, rank: int, size: int, meeting: tuple[str, int], timeout: float | None) -> None:
        """Meet at an address and port: rank 0 listens, the others come when they can.

        Without a timeout the wait for every rank is endless. Raises OSError, TimeoutError.
        """
        self._rank, self._size = rank, size
        if rank == 0:
            self._links = self._gather(meeting, timeout)
        else:
            self._links = {0: self._join(meeting, timeout)}

    def _gather(self, meeting: tuple[str, int], timeout: float | None) -> dict[int, socket.socket]:
        links: dict[int, socket.socket] = {}
        with contextlib.closing(wire.Listener(Machine().run, *meeting, backlog=self._size)) as server:
            if timeout is not None:
                server.settimeout(timeout)
            while len(links) < self._size - 1:
                link = socket.socket(fileno=server.descriptor())
                link.settimeout(timeout)
                links[_receive(link)] = link
        return links

    def _join(self, meeting: tuple[str, int], timeout: float | None) -> socket.socket:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            try:
                link = socket.socket(fileno=wire.dial(Machine().run, *meeting))
            except wire.NobodyError:
                if time.monotonic() > deadline:
                    raise TimeoutError("nobody listens there") from None
                time.sleep(_RETRY_SECONDS)
            else:
                link.settimeout(timeout)
                _send(link, self._rank)
                return link

    def exchange(self, mine: Any) -> list[Any]:
        """The value of every rank, in order of rank. Raises StarError, TimeoutError."""
        try:
            if self._rank:
                _send(self._links[0], mine)
                received: list[Any] = _receive(self._links[0])
                return received
            values = [mine, *(_receive(self._links[rank]) for rank in range(1, self._size))]
            data = _framed(values)  # once: a pool of 16 machines has 128 ranks
            for link in self._links.values():
                link.sendall(data)
        except TimeoutError:
            raise
        except (OSError, EOFError) as error:
            raise StarError(str(error)) from error
        return values

    def close(self) -> None:
        """Hang up."""
        for link in self._links.values():
            with contextlib.suppress(OSError):
                link.close()


def _send(link: socket.socket, value: Any) -> None:
    link.sendall(_framed(value))


def _framed(value: Any) -> bytes:
    data = json.dumps(value).encode()
    return _LENGTH.pack(len(data)) + data


def _receive(link: socket.socket) -> Any:
    (length,) = _LENGTH.unpack(_exactly(link, _LENGTH.size))
    return json.loads(_exactly(link, length))


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        if not part:
            raise EOFError("closed")
        data += part
    return data
