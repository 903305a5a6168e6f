"""The way in which simulated programs of different pods reach each other: by the pods' addresses, over sockets in the
run folder.

Only the folder's owner reaches a socket there. A server's is named after its pod's address and port. Messages of the
tools are lines with a number of fields; the module beneath `socket` is used, which is there at once.
"""

import _socket
import errno
import os

from rehearsal.machines.rdma_tools import proc_net

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Any, Final

_FOLDER: "Final" = "machines/wire"
_RDMA_NETWORK: "Final" = "172.16."
"""Azure reserves 172.16.0.0/16 for RDMA on its HPC sizes (Azure/AKS pull request 5975, 2026-09-20), and an HCA's
interface has an address of it with that mask (tests/field_recordings, ipoib-in-a-pod). Assumed: packets to pods with
such addresses leave by it, and are lost.
"""
CLIENTS_PORT: "Final" = 40000
"""Port of a client's end, as its /proc/net/tcp shows it: some port that the kernel gives to clients."""


class InUseError(OSError):
    """Another program listens on that address and port."""


class NobodyError(OSError):
    """No server listens on that address and port."""


class UnansweredError(NobodyError):
    """Nothing has answered at that address, and TCP has given up."""


class Peer:
    """The other end: messages are names with numbers or words."""

    def __init__(self, descriptor: int, sockets: proc_net.Sockets) -> None:
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        self._sockets = sockets
        self._rest = b""

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._sockets.hide()

    def say(self, **fields: "Any") -> None:
        """Send one message."""
        line = " ".join(f"{name}={value}" for name, value in fields.items())
        try:
            os.write(self._file.fileno(), f"{line}\n".encode())
        except OSError as error:
            raise NobodyError(str(error)) from error

    def says_something(self, seconds: float) -> bool:
        """Wait so long for a message, or for the end; whether it has come."""
        import select  # noqa: PLC0415 most tools wait without end

        return bool(select.select([self._file], [], [], seconds)[0])

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
    """A server's end. Raises InUseError if there is another."""

    def __init__(self, run: str, address: str, port: int, *, backlog: int = 16) -> None:
        os.makedirs(f"{run}/{_FOLDER}", exist_ok=True)  # noqa: PTH103
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._file = f"{run}/{_FOLDER}/{address}_{port}"
        # Listening before it has its name: a client that finds the name is answered.
        draft = f"{self._file}.{os.getpid()}"
        with _Short(draft) as short:
            self._socket.bind(short)
        self._socket.listen(backlog)
        try:
            self._claim(draft)
        except InUseError:
            self._socket.close()
            raise
        finally:
            os.unlink(draft)  # noqa: PTH108
        self._address, self._sockets = (address, port), proc_net.Sockets()
        self._sockets.show((proc_net.ANY[0], port), proc_net.ANY, proc_net.LISTEN)

    def _claim(self, draft: str) -> None:
        for _ in range(2):
            try:
                os.link(draft, self._file)
            except FileExistsError:
                if _reachable(self._file):
                    break
                _remove(self._file)  # of a server that was killed
            else:
                return
        raise InUseError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), self._file.rpartition("/")[2])

    def settimeout(self, seconds: float) -> None:
        """Limit of the wait for a client; then TimeoutError is raised."""
        self._socket.settimeout(seconds)

    def descriptor(self) -> int:
        """Wait for a client, and give its connection as a file descriptor."""
        descriptor, _ = self._socket._accept()  # type: ignore[attr-defined]
        os.set_blocking(descriptor, True)
        return int(descriptor)

    def accept(self) -> Peer:
        """Wait for a client."""
        descriptor, sockets = self.descriptor(), proc_net.Sockets()
        sockets.show(self._address, proc_net.ANY, proc_net.ESTABLISHED)
        return Peer(descriptor, sockets)

    def close(self) -> None:
        """Listen no longer."""
        _remove(self._file)
        self._socket.close()


def connect(run: str, address: str, port: int) -> Peer:
    """Reach a server. Raises NobodyError."""
    descriptor, sockets = dial(run, address, port), proc_net.Sockets()
    own = (os.environ.get("REHEARSAL_POD_IP", proc_net.ANY[0]), CLIENTS_PORT)
    sockets.show(own, (address, port), proc_net.ESTABLISHED)
    return Peer(descriptor, sockets)


def dial(run: str, address: str, port: int) -> int:
    """Reach a server; the connection as a file descriptor. Raises NobodyError."""
    if address.startswith(_RDMA_NETWORK):
        raise NobodyError(f"{address}:{port}")
    try:
        return _connected(f"{run}/{_FOLDER}/{address}_{port}")
    except OSError as error:
        raise NobodyError(f"{address}:{port}") from error


class _Short:
    """A socket's path through a descriptor of its folder: the kernel takes no path above 107 bytes."""

    def __init__(self, path: str) -> None:
        folder, _, self._name = path.rpartition("/")
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY)

    def __enter__(self) -> str:
        return f"/proc/self/fd/{self._folder}/{self._name}"

    def __exit__(self, *_: object) -> None:
        os.close(self._folder)


def _connected(path: str) -> int:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        with _Short(path) as short:
            connection.connect(short)
    except OSError:
        connection.close()
        raise
    return connection.detach()


def _reachable(path: str) -> bool:
    try:
        os.close(_connected(path))
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    if os.path.exists(path):  # noqa: PTH110
        os.unlink(path)  # noqa: PTH108
