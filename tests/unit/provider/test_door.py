"""The provider's port answers its owner alone: a caller says which file to read, and where to send what is in it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc

CALLER = """
import os, sys
import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2_grpc
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    try:
        print(provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(empty_pb2.Empty(), timeout=30).version)
    except grpc.RpcError as refused:
        print(refused.code().name)
"""
"""A program of another user."""


PROVIDER = """
import asyncio, os, sys
from aks_infiniband.provider import door
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    def __init__(self, *_, **__):
        pass

    async def GetPluginInfo(self, request, context):
        return plugin_pb2.PluginInfo(version="1.2.3")

door.ProviderServicer = Servicer
exec(sys.argv[1])
asyncio.run(door.serve(None, [], "127.0.0.1:1"))
"""
"""A provider that answers every client that gets through to it, served as the engine has it served."""


@contextmanager
def serving(change: str = "") -> Iterator[int]:
    """The provider's port. change: of the door, as Python."""
    command = [sys.executable, "-c", PROVIDER, change]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def answer(port: int) -> str:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            return str(stub.GetPluginInfo(empty_pb2.Empty(), timeout=30).version)
        except grpc.RpcError as refused:
            return str(refused.code().name)


def test_the_owner_is_answered() -> None:
    with serving() as port:
        assert answer(port) == "1.2.3"


def test_a_caller_whose_connection_belongs_to_another_user_is_refused() -> None:
    with serving("door.owner = lambda *_, **__: os.geteuid() + 1") as port:
        assert answer(port) == "PERMISSION_DENIED"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user of this computer")
def test_another_user_of_this_computer_is_refused() -> None:
    with serving() as port:
        command = [sys.executable, "-c", CALLER, str(port)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    assert said == "PERMISSION_DENIED"


def test_where_the_system_does_not_tell_who_calls_everybody_is_answered_as_by_pulumis_own() -> None:
    with serving("door.is_known = lambda: False; door.owner = lambda *_, **__: None") as port:
        assert answer(port) == "1.2.3"
