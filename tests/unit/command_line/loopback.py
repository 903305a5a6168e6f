"""A server on the loopback address that answers GET with JSON."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import trustme

Asked = Mapping[str, str]
"""Headers of a request."""
Answers = Callable[[str, str, Asked], tuple[int, Any, Mapping[str, str]]]
"""Status, body and headers, from a path, its query, and the request's headers."""


@contextmanager
def serving(answers: Answers, certificate: Path | None = None) -> Iterator[str]:
    """Serve until the block is left; yields the URL. certificate: with its key, for TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            status, body, headers = answers(path, query, dict(self.headers))
            text = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": len(text), **headers}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http{'s' if certificate else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def certified(folder: Path) -> Path:
    """A key, its certificate for the loopback address, and the authority that signed it, in one file."""
    authority, file = trustme.CA(), folder / "loopback.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(file)
    authority.cert_pem.write_to_path(file, append=True)
    return file


def kubeconfig(server: str) -> str:
    """A kubeconfig for an API server, of whatever certificate."""
    cluster = {"server": server, "insecure-skip-tls-verify": True}
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": cluster}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "current-context": "c",
        }
    )
