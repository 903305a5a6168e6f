"""The kubelet's endpoint from which the API server reads container logs, so that `kubectl logs` works.

GET /containerLogs/NAMESPACE/POD/CONTAINER with the query parameters tailLines, limitBytes and follow, over TLS on
loopback; only clients with a certificate of the cluster's authority are answered.
"""

import http.server
import os
import shutil
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final

from rehearsal.run.folder import RunFolder

_LOOPBACK: Final = "127.0.0.1"
_FOLLOW_SECONDS: Final = 0.2
_PIECE: Final = 1 << 16
_NOT_RUN: Final = (
    "A rehearsal runs the pods of Jobs, if machines have their program. This container is none of them, or has not "
    "started: what its pod does to the machine is simulated, and it does not have a log.\n"
)


def log_file(run: RunFolder, namespace: str, pod: str, container: str) -> Path:
    """The file for the output of an executed container."""
    return run.logs / "pods" / f"{namespace}_{pod}_{container}.log"


@dataclass(frozen=True, kw_only=True)
class LogServer:
    """The endpoint, serving in separate threads until it is closed."""

    port: int
    _server: http.server.ThreadingHTTPServer

    @classmethod
    def start(cls, run: RunFolder, *, is_running: Callable[[str, str], bool]) -> "LogServer":
        """Serve the logs of a run on a free port.

        is_running: True if a pod, by namespace and name, may still write; following its log continues for so long.
        """

        class Handler(_Handler):
            folder = run
            still_written = staticmethod(is_running)

        server = http.server.ThreadingHTTPServer((_LOOPBACK, 0), Handler)
        server.daemon_threads = True
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(run.pki / "ca.crt"))
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(run.pki / "machines.crt", run.pki / "machines.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True, name="log-server").start()
        return cls(port=server.server_address[1], _server=server)

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"  # the end of the connection ends the log
    folder: RunFolder
    still_written: Callable[[str, str], bool]

    def do_GET(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        parts = [urllib.parse.unquote(part) for part in address.path.strip("/").split("/")]
        if len(parts) != 4 or parts[0] != "containerLogs" or any("/" in part or part == ".." for part in parts):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        namespace, pod, container = parts[1:]
        query = dict(urllib.parse.parse_qsl(address.query))
        path = log_file(self.folder, namespace, pod, container)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        if not path.is_file():
            self.wfile.write(_NOT_RUN.encode())
            return
        with path.open("rb") as output:
            for piece in selected(output, query):
                self.wfile.write(piece)
            if query.get("follow") in {"true", "1"}:
                self._follow(output, namespace, pod)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""

    def _follow(self, output: BinaryIO, namespace: str, pod: str) -> None:
        while True:
            ends = not self.still_written(namespace, pod)  # checked first: its last output is still read
            shutil.copyfileobj(output, self.wfile, _PIECE)
            self.wfile.flush()
            if ends:
                return
            time.sleep(_FOLLOW_SECONDS)


def selected(output: BinaryIO, query: Mapping[str, str]) -> Iterator[bytes]:
    """The requested part of a log: its last lines (tailLines), limited in bytes (limitBytes).

    Read in pieces: a program may have written more than this computer has memory.
    """
    end = output.seek(0, os.SEEK_END)
    begin = _start_of_last(output, end, int(query["tailLines"])) if "tailLines" in query else 0
    left = min(end - begin, int(query.get("limitBytes", end)))
    output.seek(begin)
    while left > 0 and (piece := output.read(min(_PIECE, left))):
        left -= len(piece)
        yield piece
    output.seek(end)


def _start_of_last(output: BinaryIO, end: int, count: int) -> int:
    """The beginning of the last lines. end: the end of the log."""
    if count <= 0:
        return end
    here, missing = end, count + 1
    while here > 0:
        start = max(0, here - _PIECE)
        output.seek(start)
        piece = output.read(here - start)
        if here == end and not piece.endswith(b"\n"):
            missing -= 1  # the last line has not ended
        position = len(piece)
        while (position := piece.rfind(b"\n", 0, position)) >= 0:
            missing -= 1
            if missing == 0:
                return start + position + 1
        here = start
    return 0
