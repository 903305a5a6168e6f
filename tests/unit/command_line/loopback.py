"""A server on the loopback address that answers GET with JSON."""

import datetime
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
    """A key and a certificate of its own, for the loopback address."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loopback")]),
    )
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    day = datetime.timedelta(days=1)
    builder = builder.not_valid_before(now - day).not_valid_after(now + day)
    signed = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "loopback.pem"
    file.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return file
