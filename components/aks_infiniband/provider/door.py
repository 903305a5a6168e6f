"""The door of the provider's port: every user of a computer reaches it, and its owner alone is answered."""

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
from pulumi.provider.server import ProviderServicer
from pulumi.runtime.proto import provider_pb2_grpc

from aks_infiniband.provider.neighbours import is_known, owner, table

_ADDRESS: Final = "127.0.0.1"
_MOST_BYTES: Final = 400 << 20
"""Size of a message, as Pulumi's own providers take them (pulumi 3.272.0, runtime/_grpc_settings.py)."""


class OwnUserOnly(grpc.aio.ServerInterceptor):  # type: ignore[misc,unused-ignore]
    """Refuses calls of other users, before anything is read of them. port: on which is served, once it is known.

    A caller could have a kubeconfig's token sent to itself: it names the engine's address, and the file to read.
    """

    def __init__(self) -> None:
        self.port = 0

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any) -> Any:
        """The method, for callers of this user. Every method of the provider has one request and one answer."""
        method = await continuation(handler_call_details)
        if method is None or method.unary_unary is None:
            return None

        async def answer(request: Any, context: Any) -> Any:
            if not self._is_own(context):
                await context.abort(grpc.StatusCode.PERMISSION_DENIED, "this port answers its owner alone")
            return await method.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(answer, method.request_deserializer, method.response_serializer)

    def _is_own(self, context: Any) -> bool:
        kind, _, place = str(context.peer()).partition(":")
        address, _, port = place.rpartition(":")
        if kind != "ipv4" or not port.isdecimal():
            return False
        uid = owner(table(), local=(address, int(port)), remote=(_ADDRESS, self.port))
        # As long as the call is not done, no other socket can have the other end's addresses: so it is read last.
        return uid == os.geteuid() and not context.done()


async def serve(provider: Any, arguments: list[str], engine: str) -> None:
    """Answer the engine until it ends this process, as `pulumi.provider.main` does, behind a door.

    If the kernel does not report the owner of a connection (macOS, Windows), every caller is answered, as by Pulumi's
    own providers.
    """
    door = OwnUserOnly()
    sizes = [(f"grpc.max_{way}_message_length", _MOST_BYTES) for way in ("send", "receive")]
    server = grpc.aio.server(interceptors=[door] if is_known() else [], options=sizes)
    servicer = ProviderServicer(provider, arguments, engine_address=engine)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    door.port = server.add_insecure_port(f"{_ADDRESS}:0")
    await server.start()
    sys.stdout.write(f"{door.port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()
