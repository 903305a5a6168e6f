"""The TCP sockets of a simulated container, as its /proc/net/tcp shows them (Linux, net/ipv4/tcp_ipv4.c).

Simulated programs meet over Unix sockets (wire.py), which the kernel does not show as what they stand for. In the
column of the inode is the program's process id: the sockets of a program that has ended go with it.
"""

import _socket
import fcntl
import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Final

ESTABLISHED, SYN_SENT, LISTEN = "01", "02", "0A"
"""States (Linux, include/net/tcp_states.h)."""
_HEAD: "Final" = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
_REST: "Final" = "00000000:00000000 00:00000000 00000000     0        0"
ANY: "Final[tuple[str, int]]" = ("0.0.0.0", 0)  # noqa: S104 as the kernel writes it


class Sockets:
    """The sockets of one program in its container; none if the program is outside containers."""

    def __init__(self) -> None:
        container = os.environ.get("REHEARSAL_CONTAINER")
        self._file = f"{container}/proc/net/tcp" if container and os.path.isdir(f"{container}/proc") else None  # noqa: PTH112
        self._mine: list[str] = []

    def show(self, local: "tuple[str, int]", remote: "tuple[str, int]", state: str) -> None:
        """Show this socket, in addition to those shown before."""
        self._mine.append(f"{_hexadecimal(local)} {_hexadecimal(remote)} {state} {_REST} {os.getpid()}")
        self._write()

    def mirror(self, rows: "list[list[str]]") -> None:
        """Show in place of those these, as a kernel shows them: two ends and a state each."""
        self._mine = [f"{local} {remote} {state} {_REST} {os.getpid()}" for local, remote, state in rows]
        self._write()

    def hide(self) -> None:
        """Show none of this program's any longer."""
        self._mine = []
        self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        os.makedirs(os.path.dirname(self._file), exist_ok=True)  # noqa: PTH103, PTH120
        with open(self._file, "a+", encoding="ascii") as file:  # noqa: PTH123
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            rows = [line.split(":", 1)[1].strip() for line in file.read().splitlines()[1:]]
            owners = [(row, row.rpartition(" ")[2]) for row in rows]
            own = str(os.getpid())
            others = [row for row, pid in owners if pid != own and os.path.exists(f"/proc/{pid}")]  # noqa: PTH110
            file.truncate(0)
            file.write(_HEAD + "".join(f"{n:4d}: {row}\n" for n, row in enumerate([*others, *self._mine])))


def _hexadecimal(end: "tuple[str, int]") -> str:
    return f"{int.from_bytes(_socket.inet_aton(end[0]), 'little'):08X}:{end[1]:04X}"
