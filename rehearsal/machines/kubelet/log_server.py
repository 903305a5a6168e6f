"""The kubelet's endpoint from which the API server reads container logs, so that `kubectl logs` works.

GET /containerLogs/NAMESPACE/POD/CONTAINER with the query parameters tailLines, limitBytes and follow, over TLS on
loopback; only clients with a certificate of the cluster's authority are answered.
"""

import http.server
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from rehearsal.run.folder import RunFolder

_LOOPBACK: Final = "127.0.0.1"
_FOLLOW_SECONDS: Final = 0.2
_NOT_RUN: Final = "This container is simulated by what its pod does to the machine: it is not run, and has no log.\n"


def log_file(run: RunFolder, namespace: str, pod: str, container: str) -> Path:
    """Where the output of an executed container goes."""
    return run.logs / "pods" / f"{namespace}_{pod}_{container}.log"


@dataclass(frozen=True, kw_only=True)
class LogServer:
    """The endpoint, serving in threads of its own until it is closed."""

    port: int
    _server: http.server.ThreadingHTTPServer

    @classmethod
    def start(cls, run: RunFolder, *, is_running: Callable[[str, str], bool]) -> "LogServer":
        """Serve the logs of a run on a free port.

        is_running: whether a pod, by namespace and name, may still write; following its log goes on for so long.
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
        content = path.read_bytes()
        self.wfile.write(selected(content, query))
        if query.get("follow") in {"true", "1"}:
            self._follow(path, len(content), namespace, pod)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""

    def _follow(self, path: Path, offset: int, namespace: str, pod: str) -> None:
        with path.open("rb") as output:
            output.seek(offset)
            while True:
                ends = not self.still_written(namespace, pod)  # asked first: what it wrote last is still read
                self.wfile.write(output.read())
                self.wfile.flush()
                if ends:
                    return
                time.sleep(_FOLLOW_SECONDS)


def selected(content: bytes, query: dict[str, str]) -> bytes:
    """The part of a log that a request asks for: its last lines (tailLines), limited in bytes (limitBytes)."""
    if "tailLines" in query:
        lines = content.splitlines(keepends=True)
        content = b"".join(lines[max(0, len(lines) - int(query["tailLines"])) :])
    return content[: int(query["limitBytes"])] if "limitBytes" in query else content
