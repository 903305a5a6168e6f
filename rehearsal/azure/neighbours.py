"""Refuses other users of this computer: the engine reaches its providers on loopback, where anybody can knock.

The engine takes a port and nothing else of a provider: no Unix socket, no secret. Who owns the other end of a
connection stands in the kernel's table of sockets (Linux, Documentation/networking/proc_net_tcp.rst).
"""

from __future__ import annotations

import ipaddress
import logging
import os
import sys
import urllib.parse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import grpc

_LOG: Final = logging.getLogger(__name__)
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_REFUSED: Final = "this simulated Azure belongs to another user of this computer"

Address = tuple[str, int]
"""An IP address, of version 4 where it can be, and a port."""


class OwnProcessesOnly(grpc.ServerInterceptor):
    """Answers calls of this user's processes alone."""

    def __init__(self, owner: Callable[[str], int | None] | None = None) -> None:
        """owner: the user at the other end of a connection, from what gRPC calls its peer; None: not known."""
        self._owner = owner or owner_of_peer

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of a call, with the question who calls before it."""
        handler = continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return None  # the simulator answers no call of the protocol that streams
        answer = handler.unary_unary

        def answer_own(request: Any, context: grpc.ServicerContext) -> Any:
            # Asked at every call: once a connection is closed, another user may get its port.
            if self._owner(context.peer()) != os.geteuid():
                _LOG.warning("refused a call of another user")
                context.abort(grpc.StatusCode.PERMISSION_DENIED, _REFUSED)
            return answer(request, context)

        return grpc.unary_unary_rpc_method_handler(
            answer_own, handler.request_deserializer, handler.response_serializer
        )


def owner_of_peer(peer: str) -> int | None:
    """The user of a connection's other end; None where it is gone. peer: as gRPC says it, `ipv4:127.0.0.1:40000`."""
    _, _, address = urllib.parse.unquote(peer).partition(":")
    host, _, port = address.rpartition(":")
    rows = [line for table in _TABLES if table.exists() for line in table.read_text().splitlines()[1:]]
    return owner(rows, (_plain(ipaddress.ip_address(host.strip("[]"))), int(port)))


def owner(rows: Iterable[str], local: Address) -> int | None:
    """The user of the socket with this local address that is connected; None where there is none.

    rows: of the kernel's table, without its heading.
    """
    for row in rows:
        fields = row.split()
        # A socket that its program has closed lives on without an inode, and the table gives it to root.
        if len(fields) > 9 and fields[9] != "0" and fields[3] != _LISTENING and _address(fields[1]) == local:
            return int(fields[7])
    return None


_LISTENING: Final = "0A"


def _address(text: str) -> Address:
    """An address of the table: words of 32 bits in this computer's own order of bytes, and the port."""
    digits, _, port = text.partition(":")
    words = [int(digits[start : start + 8], 16) for start in range(0, len(digits), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    return _plain(ipaddress.ip_address(packed)), int(port, 16)


def _plain(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
