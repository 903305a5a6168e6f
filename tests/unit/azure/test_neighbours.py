"""Who may call the simulated Azure: this user's processes, whatever the kernel's table of sockets looks like."""

import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

from rehearsal.azure.neighbours import OwnProcessesOnly, owner, owner_of_peer

# /proc/net/tcp of a little-endian computer: 127.0.0.1:40000 of user 1000, connected to port 50000; the server's own
# end; the listener; 127.0.0.1:40001, which its program has closed; 127.0.0.1:40002, of user 65534.
TABLE = """\
   0: 0100007F:9C40 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000 20 4 30 10 -1
   1: 0100007F:C350 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000 20 4 30 10 -1
   2: 0100007F:C350 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000 100 0 0 10 0
   3: 0100007F:9C41 0100007F:C350 05 00000000:00000000 00:00000000 00000000     0        0 0 1 0000 20 4 30 10 -1
   4: 0100007F:9C42 0100007F:C350 01 00000000:00000000 00:00000000 00000000 65534        0 4714 1 0000 20 4 30 10 -1
""".splitlines()
# /proc/net/tcp6: ::ffff:127.0.0.1:40003 of user 1001, as gRPC's own clients connect.
TABLE_6 = (
    "   0: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000100007F:C350 01 00000000:00000000 "
    "00:00000000 00000000  1001        0 4715 1 0000 20 4 30 10 -1"
)


@pytest.mark.skipif(sys.byteorder != "little", reason="the table above is a little-endian computer's")
@pytest.mark.parametrize(
    ("port", "user"),
    [(40000, 1000), (40002, 65534), (40003, 1001), (40001, None), (40004, None)],
    ids=["ours", "another user's", "IPv6 that carries IPv4", "closed by its program", "gone"],
)
def test_a_connection_belongs_to_the_user_that_the_kernel_names(port: int, user: int | None) -> None:
    assert owner([*TABLE, TABLE_6], ("127.0.0.1", port)) == user


def test_this_process_is_told_its_own_connections() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        port = client.getsockname()[1]
        assert owner_of_peer(f"ipv4:127.0.0.1:{port}") == os.geteuid()
        assert owner_of_peer(f"ipv6:%5B::ffff:127.0.0.1%5D:{port}") == os.geteuid()


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Answers everybody who gets through to it."""

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version="1.2.3")


@pytest.mark.parametrize(
    ("user", "answer"),
    [(os.geteuid(), "1.2.3"), (os.geteuid() + 1, "PERMISSION_DENIED"), (None, "PERMISSION_DENIED")],
    ids=["ours", "another user's", "gone"],
)
def test_nobody_but_this_user_is_answered(user: int | None, answer: str) -> None:
    server = grpc.server(ThreadPoolExecutor(1), interceptors=[OwnProcessesOnly(lambda peer: user)])
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            assert answer_of(provider_pb2_grpc.ResourceProviderStub(channel)) == answer
    finally:
        server.stop(grace=None).wait()


def answer_of(provider: provider_pb2_grpc.ResourceProviderStub) -> str:
    """The provider's version, or the code of its refusal."""
    try:
        return str(provider.GetPluginInfo(empty_pb2.Empty(), timeout=60).version)
    except grpc.RpcError as refused:
        return str(refused.code().name)
