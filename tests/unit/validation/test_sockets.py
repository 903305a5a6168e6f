"""The kernel's view of connections is read as it writes it."""

import socket
import time
from pathlib import Path

from aks_infiniband.validation.payload.programs.sockets import connections, knock, states_of_client, states_of_server

TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:48A8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0
   1: 0100F40A:9C40 0200F40A:48A8 02 00000001:00000000 01:00000064 00000001     0        0 4712 2 0000000000000000 100 0
   2: 0100F40A:9C42 0300F40A:48A8 01 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0
   3: 0100F40A:9C44 0300F40A:48A8 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000
"""
TCP6 = TCP.splitlines()[0] + (
    "\n   0: 00000000000000000000000000000000:48A9 00000000000000000000000000000000:0000 0A 00000000:00000000 "
    "00:00000000 00000000     0        0 4714 1 0000000000000000 100 0\n"
    "   1: 0000000000000000FFFF00000100F40A:48AA 0000000000000000FFFF00000200F40A:9C40 01 00000000:00000000 "
    "00:00000000 00000000     0        0 4715 1 0000000000000000 100 0\n"
)


def test_a_listener_a_try_and_a_connection_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/tcp").write_text(TCP)
    (tmp_path / "net/tcp6").write_text(TCP6)
    seen = connections(tmp_path)
    assert states_of_server(seen, 18600) == {"LISTEN"}
    assert states_of_client(seen, "10.244.0.2", 18600) == {"SYN_SENT"}
    assert states_of_client(seen, "10.244.0.3", 18600) == {"ESTABLISHED"}
    assert states_of_server(seen, 18601) == {"LISTEN"}
    assert states_of_server(seen, 18602) == {"ESTABLISHED"}


def test_where_nothing_can_be_read_nothing_is_known(tmp_path: Path) -> None:
    assert connections(tmp_path) == []


def test_this_kernel_writes_it_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert states_of_server(connections(Path("/proc")), port) == {"LISTEN"}
        with socket.create_connection(("127.0.0.1", port)):
            assert states_of_client(connections(Path("/proc")), "127.0.0.1", port) == {"ESTABLISHED"}


def test_somebody_who_knocks_is_gone_at_once_and_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        knock("127.0.0.1", server.getsockname()[1], 5)
        came, _ = server.accept()
        assert came.recv(1) == b""
    began = time.monotonic()
    knock("127.0.0.1", 1, 600)
    assert time.monotonic() - began < 300, "a refusal is not waited for, however busy the computer is"
