"""A very small Kubernetes API on loopback: nodes, and ConfigMaps that can be read and merged."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aks_infiniband.validation.payload.talk.config_maps import COMPRESSED, CONFIG_MAP_BYTES, packed, size_of, texts_of


class FakeApi:
    """Holds nodes and ConfigMaps, remembers requests, and refuses a request that is too large, and the given number of
    others.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.nodes: list[dict[str, Any]] = []
        self.config_maps: dict[str, dict[str, str]] = {}
        """By name, the values by key, as they are stored: those of binaryData in base64, by the end of their key."""
        self.annotations: dict[str, dict[str, str]] = {}
        """Data of ConfigMaps, by name."""
        self.events: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.refusals: list[int] = []
        """Statuses to answer with before anything else, one for each request."""
        self.on_patch: Callable[[str, dict[str, str]], object] = lambda name, data: None
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> Any:
                fake.answer(self, "GET")

            def do_PATCH(self) -> Any:
                fake.answer(self, "PATCH")

            def do_POST(self) -> Any:
                fake.answer(self, "POST")

            def log_message(self, *_: Any) -> Any:
                pass

        self.server = ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Any:
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> Any:
        self.server.shutdown()
        self.server.server_close()

    def texts(self, name: str) -> dict[str, str]:
        """The texts in the keys of a ConfigMap, decompressed."""
        return texts_of(sections(self.config_maps[name]))

    def put(self, name: str, texts: dict[str, str]) -> None:
        """Set keys of a ConfigMap, compressed if their names say so."""
        self.config_maps[name] |= stored(texts)

    def answer(self, handler: Any, method: Any) -> Any:
        with self._lock:
            length = int(handler.headers.get("Content-Length") or 0)
            body: Any = json.loads(handler.rfile.read(length)) if length else None
            path = urlsplit(handler.path)
            self.requests.append((method, handler.path, dict(handler.headers), body))
            if self.refusals:
                self.send(handler, self.refusals.pop(0), {"kind": "Status", "message": "not now"})
                return
            if path.path == "/api/v1/nodes":
                key, _, value = parse_qs(path.query).get("labelSelector", [""])[0].partition("=")
                items = [node for node in self.nodes if not key or node["metadata"]["labels"].get(key) == value]
                self.send(handler, 200, {"items": items})
                return
            if method == "POST":
                self.events.append(body)
                self.send(handler, 201, body)
                return
            name = path.path.removesuffix("/status").rpartition("/")[2]
            if path.path.startswith("/api/v1/nodes/"):
                found = next((node for node in self.nodes if node["metadata"]["name"] == name), None)
                if found and method == "PATCH":
                    found["status"].setdefault("conditions", []).extend(body["status"]["conditions"])
                self.send(handler, 200 if found else 404, found or {"kind": "Status", "message": f"no node {name}"})
                return
            if name not in self.config_maps:
                self.send(handler, 404, {"kind": "Status", "message": f'configmaps "{name}" not found'})
                return
            data = self.config_maps[name]
            changes = {
                key: value for kind in ("data", "binaryData") for key, value in (body or {}).get(kind, {}).items()
            }
            after = {key: value for key, value in {**data, **changes}.items() if value is not None}
            if size_of(sections(after)) > CONFIG_MAP_BYTES:
                said = f'ConfigMap "{name}" is invalid: []: Too long: may not be more than {CONFIG_MAP_BYTES} bytes'
                self.send(handler, 422, {"kind": "Status", "message": said})
                return
            data.clear()
            data.update(after)
            if method == "PATCH":
                self.on_patch(name, data)
            annotations = self.annotations.setdefault(name, {})
            annotations.update(((body or {}).get("metadata") or {}).get("annotations") or {})
            alone = "as=PartialObjectMetadata" in handler.headers["Accept"]
            metadata = {"metadata": {"annotations": annotations}}
            self.send(handler, 200, {"kind": "ConfigMap", **metadata, **({} if alone else sections(data))})

    def send(self, handler: Any, status: Any, document: Any) -> Any:
        text = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)


def sections(values: dict[str, str]) -> dict[str, dict[str, str]]:
    """A ConfigMap's data and binaryData."""
    binary = {key: value for key, value in values.items() if key.endswith(COMPRESSED)}
    plain = {key: value for key, value in values.items() if key not in binary}
    return {name: found for name, found in (("data", plain), ("binaryData", binary)) if found}


def stored(texts: dict[str, str]) -> dict[str, str]:
    """The values of a ConfigMap's keys as they are stored, compressed if their names say so."""
    return {key: str(value) for values in packed(texts).values() for key, value in values.items()}
