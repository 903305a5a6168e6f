"""Clients that get through to the simulated Azure: this user's processes, whatever the kernel's table of sockets looks
like.
"""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from aks_infiniband.provider.neighbours import is_own, owner
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

from rehearsal.azure import doors
from rehearsal.azure.doors import OwnDoor

# /proc/net/tcp of a little-endian computer: 127.0.0.1:40000 of user 1000, connected to port 50000; the server's own
# end; the listener; 127.0.0.1:40001, which its program has closed; 127.0.0.1:40002, of user 65534; the same port of
# user 1000, connected to port 50001; 127.0.0.1:40004 of user 1000, which still requests a connection to port 50000.
TABLE = """\
   0: 0100007F:9C40 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000 20 4 30 10 -1
   1: 0100007F:C350 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000 20 4 30 10 -1
   2: 0100007F:C350 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000 100 0 0 10 0
   3: 0100007F:9C41 0100007F:C350 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0000 20 4 30 10 -1
   4: 0100007F:9C42 0100007F:C351 01 00000000:00000000 00:00000000 00000000  1000        0 4715 1 0000 20 4 30 10 -1
   5: 0100007F:9C42 0100007F:C350 01 00000000:00000000 00:00000000 00000000 65534        0 4714 1 0000 20 4 30 10 -1
   6: 0100007F:9C44 0100007F:C350 02 00000000:00000000 00:00000000 00000000  1000        0 4716 1 0000 20 4 30 10 -1
""".splitlines()
# /proc/net/tcp6: ::ffff:127.0.0.1:40003 of user 1001, as gRPC's own clients connect.
TABLE_6 = (
    "   0: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000100007F:C350 01 00000000:00000000 "
    "00:00000000 00000000  1001        0 4717 1 0000 20 4 30 10 -1"
)


@pytest.mark.skipif(sys.byteorder != "little", reason="the table above is a little-endian computer's")
@pytest.mark.parametrize(
    ("port", "user"),
    [(40000, 1000), (40002, 65534), (40003, 1001), (40001, None), (40004, None), (40005, None)],
    ids=["ours", "of two users, to two places", "IPv6 that carries IPv4", "closed by its program", "asking", "gone"],
)
def test_both_ends_of_a_connection_say_whose_it_is(port: int, user: int | None) -> None:
    assert owner([*TABLE, TABLE_6], local=("127.0.0.1", port), remote=("127.0.0.1", 50000)) == user


@pytest.fixture(name="listener")
def _listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def test_this_users_connections_are_known_and_those_that_are_closed_belong_to_nobody(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        assert is_own(accepted)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed without a farewell
    with accepted:
        assert not is_own(accepted)


NEIGHBOUR = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
port, count = map(int, sys.argv[1:])
for _ in range(count):
    with socket.socket() as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        caller.bind(("127.0.0.1", 0))
        caller.connect(("127.0.0.1", port))
        caller.recv(1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user of this computer")
def test_no_connection_of_another_user_is_taken_for_the_owners_that_has_the_same_port(listener: socket.socket) -> None:
    """Another user calls 60 times, and each time the owner connects from the same port to another place."""
    count, taken, shared = 60, 0, 0
    with socket.create_server(("127.0.0.1", 0)) as other:
        command = [sys.executable, "-c", NEIGHBOUR, str(listener.getsockname()[1]), str(count)]
        listener.settimeout(60)
        with subprocess.Popen(command):
            for _ in range(count):
                visitor, address = listener.accept()
                with visitor, socket.socket() as own:
                    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    with suppress(OSError):  # the kernel does not give every port twice
                        own.bind(address)
                        own.connect(other.getsockname())
                        accepted, _ = other.accept()
                        with accepted:
                            shared += is_own(accepted)
                            taken += is_own(visitor)
    assert shared > count // 2
    assert taken == 0


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Answers every client that gets through to it."""

    def __init__(self) -> None:
        self.peers: list[str] = []

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self.peers.append(context.peer())
        return plugin_pb2.PluginInfo(version="1.2.3")


@pytest.fixture(name="served")
def _served(tmp_path: Path) -> Iterator[tuple[int, Provider]]:
    """A provider behind a door, and the door's port."""
    folder = tmp_path / ("a" * 120)  # longer than the address of a Unix socket can be
    folder.mkdir(mode=0o700)
    door, server, provider = OwnDoor(folder), grpc.server(ThreadPoolExecutor(1)), Provider()
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    server.add_insecure_port(f"unix:{door.inside}")
    server.start()
    yield door.port, provider
    server.stop(grace=None).wait()
    door.close()


@pytest.mark.parametrize(("own", "answer"), [(True, "1.2.3"), (False, "UNAVAILABLE")], ids=["ours", "another user's"])
def test_nobody_but_this_user_is_answered(
    served: tuple[int, Provider], own: bool, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not own:
        monkeypatch.setattr(doors, "is_own", lambda visitor: False)
    with grpc.insecure_channel(f"127.0.0.1:{served[0]}") as channel:
        assert answer_of(provider_pb2_grpc.ResourceProviderStub(channel)) == answer


def test_connections_are_told_from_each_other_behind_the_door(served: tuple[int, Provider]) -> None:
    """An engine that gives up must not end the waits of another one."""
    port, provider = served
    for _ in range(2):
        with grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)]) as channel:
            assert answer_of(provider_pb2_grpc.ResourceProviderStub(channel)) == "1.2.3"
    assert len(set(provider.peers)) == 2


def answer_of(provider: provider_pb2_grpc.ResourceProviderStub) -> str:
    """The provider's version, or the code of its refusal."""
    try:
        return str(provider.GetPluginInfo(empty_pb2.Empty(), timeout=60).version)
    except grpc.RpcError as refused:
        return str(refused.code().name)
