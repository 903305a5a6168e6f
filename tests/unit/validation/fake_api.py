"""A very small Kubernetes API on loopback: nodes, and ConfigMaps that can be read and merged."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class FakeApi:
    """Holds nodes and ConfigMaps, remembers requests, and refuses as often as it is told to."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.config_maps: dict[str, dict[str, str]] = {}
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

            def log_message(self, *_: Any) -> Any:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Any:
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> Any:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: Any, method: Any) -> Any:
        with self._lock:
            length = int(handler.headers.get("Content-Length") or 0)
            body = json.loads(handler.rfile.read(length)) if length else None
            path = urlsplit(handler.path)
            self.requests.append((method, handler.path, dict(handler.headers), body))
            if self.refusals:
                self.send(handler, self.refusals.pop(0), {"kind": "Status", "message": "not now"})
                return
            if path.path == "/api/v1/nodes":
                key, _, value = parse_qs(path.query)["labelSelector"][0].partition("=")
                items = [node for node in self.nodes if node["metadata"]["labels"].get(key) == value]
                self.send(handler, 200, {"items": items})
                return
            name = path.path.rpartition("/")[2]
            if path.path.startswith("/api/v1/nodes/"):
                found = next((node for node in self.nodes if node["metadata"]["name"] == name), None)
                self.send(handler, 200 if found else 404, found or {"kind": "Status", "message": f"no node {name}"})
                return
            if name not in self.config_maps:
                self.send(handler, 404, {"kind": "Status", "message": f'configmaps "{name}" not found'})
                return
            data = self.config_maps[name]
            for key, value in ((body or {}).get("data") or {}).items():
                if value is None:
                    data.pop(key, None)
                else:
                    data[key] = value
            if method == "PATCH":
                self.on_patch(name, data)
            self.send(handler, 200, {"kind": "ConfigMap", "data": data} if data else {"kind": "ConfigMap"})

    def send(self, handler: Any, status: Any, document: Any) -> Any:
        text = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)
