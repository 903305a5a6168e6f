"""How simulated tools of different pods reach each other: by the pods' addresses, over loopback.

A server says in the run folder on which real port it listens for its pod's address and port. Messages are lines with a
number of fields; the module beneath `socket` is used, which is there at once.
"""

import _socket
import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_FOLDER: "Final" = "machines/wire"


class InUseError(OSError):
    """Somebody listens on that address and port."""


class NobodyError(OSError):
    """Nobody listens on that address and port."""


class Peer:
    """The other end: messages are names with numbers or words."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self._rest = b""

    def say(self, **fields: "Any") -> None:
        """Send one message."""
        line = " ".join(f"{name}={value}" for name, value in fields.items())
        try:
            os.write(self._file.fileno(), f"{line}\n".encode())
        except OSError as error:
            raise NobodyError(str(error)) from error

    def hear(self) -> "dict[str, str]":
        """Wait for one message. Raises NobodyError when the other end has gone."""
        while b"\n" not in self._rest:
            try:
                part = self._file.read(4096)
            except OSError as error:
                raise NobodyError(str(error)) from error
            if not part:
                raise NobodyError("the other end has gone")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(field.split("=", 1) for field in line.decode().split(" "))


class Listener:
    """A server's end. Raises InUseError where there is another."""

    def __init__(self, run: str, address: str, port: int) -> None:
        self._socket = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(16)
        os.makedirs(f"{run}/{_FOLDER}", exist_ok=True)  # noqa: PTH103
        self._file = f"{run}/{_FOLDER}/{address}_{port}"
        if not self._claim():
            if _reachable(self._file):
                self._socket.close()
                raise InUseError(f"{address}:{port}")
            _remove(self._file)  # of a server that was killed
            self._claim()

    def _claim(self) -> bool:
        draft = f"{self._file}.{os.getpid()}"
        with open(draft, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(str(self._socket.getsockname()[1]))
        try:
            os.link(draft, self._file)
        except FileExistsError:
            return False
        finally:
            _remove(draft)
        return True

    def accept(self) -> Peer:
        """Wait for a client."""
        descriptor, _ = self._socket._accept()  # type: ignore[attr-defined]
        os.set_blocking(descriptor, True)
        return Peer(descriptor)

    def close(self) -> None:
        """Listen no longer."""
        _remove(self._file)
        self._socket.close()


def connect(run: str, address: str, port: int) -> Peer:
    """Reach a server. Raises NobodyError."""
    try:
        return Peer(_connected(f"{run}/{_FOLDER}/{address}_{port}"))
    except (OSError, ValueError) as error:
        raise NobodyError(f"{address}:{port}") from error


def _connected(path: str) -> int:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        real = int(file.read())
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.connect(("127.0.0.1", real))
    except OSError:
        connection.close()
        raise
    return connection.detach()


def _reachable(path: str) -> bool:
    try:
        os.close(_connected(path))
    except (OSError, ValueError):
        return False
    return True


def _remove(path: str) -> None:
    if os.path.exists(path):  # noqa: PTH110
        os.unlink(path)  # noqa: PTH108
