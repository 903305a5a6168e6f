"""The few requests of a payload to the Kubernetes API, with the standard library alone."""

from __future__ import annotations

import argparse
import json
import os
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Callable

from .config_maps import CONFIG_MAP_BYTES, packed, size_of, texts_of

FIELD_MANAGER = "aks-infiniband-validation"
_TRANSIENT_STATUS = frozenset({401, 403, 409, 429, 500, 502, 503, 504})
"""Statuses after which a request is tried again. 401 and 403 are among them because a role that was just bound takes a
moment to be honoured.
"""
_FINAL_STATUS = frozenset({413, 422})
"""Statuses of a request that is too large or not valid, and would be so again."""
_METADATA_ALONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""An answer in this form is without data. Otherwise the pods of a large pool would be sent each other's reports with
every answer.
"""

_JSON = "application/json"
_MERGED = "application/merge-patch+json"
_MERGED_BY_TYPE = "application/strategic-merge-patch+json"
"""In this form the server merges a list of conditions by their type; otherwise it would replace the list."""


Object = dict[str, Any]
"""A Kubernetes object as JSON."""


class ApiError(Exception):
    """The API could not be reached, or refused; ``status`` is None without any answer."""

    def __init__(self, request: str, status: int | None, reason: str) -> None:
        """``request`` is the method and path, ``reason`` what the server or the socket said."""
        answer = "no answer" if status is None else f"status {status}"
        super().__init__(f"{request}: {answer}: {reason}")
        self.status, self.reason = status, reason

    @property
    def transient(self) -> bool:
        """True if the same request may succeed a little later."""
        return self.status is None or self.status in _TRANSIENT_STATUS

    @property
    def final(self) -> bool:
        """True if the same work would end with the same refusal."""
        return self.status in _FINAL_STATUS


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


def api_of(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Api:
    """The API server as a pod's arguments name it, else as the kubelet does. Raises ApiError."""
    return Api(arguments.api or in_cluster_url(environment), token=arguments.token, ca=arguments.ca)


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
        """The texts in the keys of a ConfigMap (texts_of). Raises ApiError."""
        return texts_of(self._patiently("GET", _config_map(namespace, name)))

    def merge_config_map_data(self, namespace: str, name: str, data: Mapping[str, str | None]) -> None:
        """Set keys of a ConfigMap, or remove those whose value is None; the others stay.

        A key that ends in COMPRESSED is compressed. Raises ApiError, with the size if it is too large.
        """
        path, changes = f"{_config_map(namespace, name)}?fieldManager={FIELD_MANAGER}", packed(data)
        try:
            self._patiently("PATCH", path, changes, accept=_METADATA_ALONE)
        except ApiError as error:
            if not error.final:
                raise
            before = self._patiently("GET", _config_map(namespace, name))
            merged = {kind: {**(before.get(kind) or {}), **change}.items() for kind, change in changes.items()}
            after = {kind: {key: value for key, value in texts if value is not None} for kind, texts in merged.items()}
            sizes = f"it would have {size_of(after):,} bytes, the limit is {CONFIG_MAP_BYTES:,}"
            raise ApiError(f"ConfigMap {namespace}/{name}", error.status, f"{sizes} ({error.reason})") from error

    def annotation(self, namespace: str, name: str, key: str) -> str | None:
        """An annotation of a ConfigMap, which is read without its data. Raises ApiError."""
        config_map = self._patiently("GET", _config_map(namespace, name), accept=_METADATA_ALONE)
        value: str | None = (config_map.get("metadata", {}).get("annotations") or {}).get(key)
        return value

    def annotate(self, namespace: str, name: str, key: str, value: str) -> None:
        """Set an annotation of a ConfigMap. Raises ApiError."""
        path = f"{_config_map(namespace, name)}?fieldManager={FIELD_MANAGER}"
        self._patiently("PATCH", path, {"metadata": {"annotations": {key: value}}}, accept=_METADATA_ALONE)

    def set_node_condition(self, node: str, condition: Object) -> None:
        """Set one condition of a node; the others stay. Raises ApiError."""
        path = f"/api/v1/nodes/{urllib.parse.quote(node)}/status?fieldManager={FIELD_MANAGER}"
        self._patiently("PATCH", path, {"status": {"conditions": [condition]}}, sent_as=_MERGED_BY_TYPE)

    def set_taints(self, node: Object, taints: list[Object]) -> None:
        """Set the taints of a node that is still as it was read. Raises ApiError, with 409 if it is not."""
        metadata = node["metadata"]
        body = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "spec": {"taints": taints or None}}
        self._once("PATCH", f"/api/v1/nodes/{urllib.parse.quote(metadata['name'])}?fieldManager={FIELD_MANAGER}", body)

    def cron_job(self, namespace: str, name: str) -> Object:
        """One CronJob. Raises ApiError."""
        return self._patiently("GET", _cron_job(namespace, name))

    def suspend_cron_job(self, namespace: str, name: str, *, suspended: bool) -> None:
        """Suspend a CronJob, or have it run. Raises ApiError."""
        path = f"{_cron_job(namespace, name)}?fieldManager={FIELD_MANAGER}"
        self._patiently("PATCH", path, {"spec": {"suspend": suspended}})

    def create_event(self, event: Object) -> None:
        """Create an Event in the namespace that it names. Raises ApiError."""
        namespace = urllib.parse.quote(event["metadata"]["namespace"])
        self._patiently("POST", f"/api/v1/namespaces/{namespace}/events", event, sent_as=_JSON)

    def create_named_event(self, event: Object) -> None:
        """Create an Event under the name that it has. Raises ApiError, with 409 if it is there; tries once."""
        namespace = urllib.parse.quote(event["metadata"]["namespace"])
        self._once("POST", f"/api/v1/namespaces/{namespace}/events", event, sent_as=_JSON)

    def pods_on(self, node: str) -> list[Object]:
        """The pods of a node. Raises ApiError at the first failure: its caller polls anyhow."""
        query = urllib.parse.urlencode({"fieldSelector": f"spec.nodeName={node}"})
        items: list[Object] = self._once("GET", f"/api/v1/pods?{query}").get("items", [])
        return items

    def evict(self, namespace: str, name: str, uid: str) -> None:
        """Evict a pod as disruption budgets permit. Raises ApiError: 429 if one keeps it, 409 if another pod has the
        name; tries once.
        """
        only = {"preconditions": {"uid": uid}}
        own = {"name": name, "namespace": namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": own, "deleteOptions": only}
        path = f"/api/v1/namespaces/{urllib.parse.quote(namespace)}/pods/{urllib.parse.quote(name)}/eviction"
        self._once("POST", path, body, sent_as=_JSON)

    def namespaced(self, version: str, plural: str, namespace: str, name: str) -> Object:
        """An object of a group, such as batch/v1. Raises ApiError at the first failure."""
        at = f"/apis/{version}/namespaces/{urllib.parse.quote(namespace)}/{plural}"
        return self._once("GET", f"{at}/{urllib.parse.quote(name)}")

    def _patiently(self, method: str, path: str, body: Object | None = None, **forms: str) -> Object:
        """forms: those of _once."""
        for attempt in range(1, self._attempts):
            try:
                return self._once(method, path, body, **forms)
            except ApiError as error:
                if not error.transient:
                    raise
                print(f"attempt {attempt} of {self._attempts}: {error}", flush=True)
                # The waits differ, because pods that were refused together would otherwise come together again.
                self._sleep(min(2.0 ** (attempt - 1), 10.0) * random.uniform(0.5, 1.5))  # noqa: S311 no secret
        return self._once(method, path, body, **forms)

    def _once(
        self, method: str, path: str, body: Object | None = None, *, accept: str = _JSON, sent_as: str = _MERGED
    ) -> Object:
        headers = {"Accept": accept, "User-Agent": FIELD_MANAGER}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            headers["Content-Type"] = sent_as
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


def _cron_job(namespace: str, name: str) -> str:
    return f"/apis/batch/v1/namespaces/{urllib.parse.quote(namespace)}/cronjobs/{urllib.parse.quote(name)}"


def _message_of(error: urllib.error.HTTPError) -> str:
    """The message of the Status object that the API server sends with a refusal."""
    try:
        status = json.load(error)
        return str(status.get("message") or error.reason)
    except (OSError, ValueError, AttributeError):
        return str(error.reason)


def add_api_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for a pod's path to the API server, and for its last words to the kubelet."""
    parser.add_argument("--termination-log", required=True, type=Path)
    parser.add_argument("--token", type=Path)
    parser.add_argument("--ca", type=Path)
    parser.add_argument("--api", help="address of the API server; default: what the kubelet says")
