"""A forge on loopback that has one repository: the engine reaches it as github.com, through a proxy that knows no other
host.
"""

import gzip
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme

HOST = "github.com"


@contextmanager
def forge(repository: Path, folder: Path) -> Iterator[dict[str, str]]:
    """Serves a repository by git's smart protocol. Yields what an environment needs to reach it there.

    folder: for the certificate of the authority that has to be trusted.
    """
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    authority.cert_pem.write_to_path(folder / "authority.pem")
    server = _Server(repository, context)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_port}"
    try:
        yield {"SSL_CERT_FILE": str(folder / "authority.pem"), "HTTPS_PROXY": proxy, "HTTP_PROXY": proxy}
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def __init__(self, repository: Path, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._repository, self.context = repository, context

    def upload_pack(self, *flags: str, given: bytes = b"") -> bytes:
        """The answer of git's server."""
        command = ["git", "upload-pack", "--stateless-rpc", *flags, str(self._repository)]
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_CONNECT(self) -> None:
        if self.path != f"{HOST}:443":
            self.send_error(403, f"only {HOST} is reached here")
            return
        self.wfile.write(b"HTTP/1.1 200 connected\r\n\r\n")
        inside = self.server.context.wrap_socket(self.connection, server_side=True)
        self.connection, self.rfile, self.wfile = inside, inside.makefile("rb"), inside.makefile("wb")
        self.close_connection = False

    def do_GET(self) -> None:
        advertised = self.server.upload_pack("--advertise-refs")
        self._answer("advertisement", b"001e# service=git-upload-pack\n0000" + advertised)

    def do_POST(self) -> None:
        given = b"".join(self._chunks())
        if self.headers.get("Content-Encoding") == "gzip":
            given = gzip.decompress(given)
        self._answer("result", self.server.upload_pack(given=given))

    def _chunks(self) -> Iterator[bytes]:
        if length := self.headers.get("Content-Length"):
            yield self.rfile.read(int(length))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: a test's output does not need requests."""
