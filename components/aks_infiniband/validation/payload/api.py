"""The few requests a payload makes to the Kubernetes API, with nothing but the standard library."""

from __future__ import annotations

import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Callable

FIELD_MANAGER = "aks-infiniband-validation"
_TRANSIENT_STATUS = frozenset({401, 403, 409, 429, 500, 502, 503, 504})
"""401 and 403 are among them because a role that was bound a moment ago takes a moment to be honoured."""


Object = dict[str, Any]
"""A Kubernetes object as JSON."""


class ApiError(Exception):
    """The API could not be asked, or refused; ``status`` is None when there was no answer at all."""

    def __init__(self, request: str, status: int | None, reason: str) -> None:
        """``request`` is the method and path, ``reason`` what the server or the socket said."""
        answer = "no answer" if status is None else f"status {status}"
        super().__init__(f"{request}: {answer}: {reason}")
        self.status = status

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status is None or self.status in _TRANSIENT_STATUS


def in_cluster_url(environment: Mapping[str, str]) -> str:
    """The API server's address as the kubelet hands it to every container.

    Raises ApiError when the environment does not have it.
    """
    host = environment.get("KUBERNETES_SERVICE_HOST", "")
    port = environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise ApiError(
            "KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT", None, "not set: this runs in a pod, or with --api"
        )
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


class Api:
    """A client of one API server, authenticated by a service account's token."""

    def __init__(
        self,
        url: str,
        *,
        token: Path | None = None,
        ca: Path | None = None,
        timeout_seconds: float = 10.0,
        attempts: int = 6,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``token`` and ``ca`` are files; ``timeout_seconds`` and ``attempts`` bound each request."""
        self._url = url.rstrip("/")
        self._token = token
        self._timeout_seconds = timeout_seconds
        self._attempts = attempts
        self._sleep = sleep
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if self._url.startswith("https:"):
            context = ssl.create_default_context(cafile=os.fspath(ca) if ca else None)
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._opener = urllib.request.build_opener(*handlers)

    def nodes(self, label_selector: str) -> list[Object]:
        """The Node objects with these labels. Raises ApiError at the first failure: its caller polls anyhow."""
        query = urllib.parse.urlencode({"labelSelector": label_selector})
        items: list[Object] = self._once("GET", f"/api/v1/nodes?{query}").get("items", [])
        return items

    def node(self, name: str) -> Object:
        """One Node object. Raises ApiError."""
        return self._patiently("GET", f"/api/v1/nodes/{urllib.parse.quote(name)}")

    def config_map_data(self, namespace: str, name: str) -> dict[str, str]:
        """The data of a ConfigMap. Raises ApiError."""
        data: dict[str, str] | None = self._patiently("GET", _config_map(namespace, name)).get("data")
        return data or {}

    def merge_config_map_data(self, namespace: str, name: str, data: Mapping[str, str | None]) -> None:
        """Set keys of a ConfigMap, or remove those whose value is None; the others stay. Raises ApiError."""
        path = f"{_config_map(namespace, name)}?fieldManager={FIELD_MANAGER}"
        self._patiently("PATCH", path, {"data": dict(data)})

    def _patiently(self, method: str, path: str, body: Object | None = None) -> Object:
        for attempt in range(1, self._attempts):
            try:
                return self._once(method, path, body)
            except ApiError as error:
                if not error.transient:
                    raise
                print(f"attempt {attempt} of {self._attempts}: {error}", flush=True)
                self._sleep(min(2.0 ** (attempt - 1), 10.0))
        return self._once(method, path, body)

    def _once(self, method: str, path: str, body: Object | None = None) -> Object:
        headers = {"Accept": "application/json", "User-Agent": FIELD_MANAGER}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = "application/merge-patch+json"
        shown = f"{method} {path}"
        try:
            if self._token is not None:  # read each time: the kubelet rotates it
                headers["Authorization"] = f"Bearer {self._token.read_text(encoding='utf-8').strip()}"
            request = urllib.request.Request(  # noqa: S310 the address is the cluster's own
                self._url + path, data=payload, headers=headers, method=method
            )
            with self._opener.open(request, timeout=self._timeout_seconds) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise ApiError(shown, error.code, _message_of(error)) from error
        except (OSError, HTTPException, ValueError) as error:
            raise ApiError(shown, None, str(error) or type(error).__name__) from error
        if not isinstance(answer, dict):
            raise ApiError(shown, None, f"expected a JSON object, got {type(answer).__name__}")
        return answer


def _config_map(namespace: str, name: str) -> str:
    return f"/api/v1/namespaces/{urllib.parse.quote(namespace)}/configmaps/{urllib.parse.quote(name)}"


def _message_of(error: urllib.error.HTTPError) -> str:
    """The message of the Status object that the API server sends with a refusal."""
    try:
        status = json.load(error)
        return str(status.get("message") or error.reason)
    except (OSError, ValueError, AttributeError):
        return str(error.reason)
