"""Empties the control plane when its cluster is deleted, so that the next cluster starts empty.

AKS throws the cluster's etcd away. Here the control plane stays, so every object is deleted that the control plane
did not make itself. Finalizers are removed first, because no controller is left to honour them.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from rehearsal.azure.clock import Clock
from rehearsal.azure.cluster_api import ClusterApi

_LOG: Final = logging.getLogger(__name__)

_NAMESPACES: Final = "/api/v1/namespaces"
_OWN_NAMESPACES: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_OWN_NAMES: Final = frozenset({"kubernetes", "kube-root-ca.crt", "extension-apiserver-authentication"})
_KEPT_KINDS: Final = frozenset({
    "apiservices", "flowschemas", "prioritylevelconfigurations", "leases", "namespaces", "events", "serviceaccounts",
    "servicecidrs", "ipaddresses", "endpoints", "endpointslices", "componentstatuses", "clustertrustbundles",
})  # fmt: skip
"""The control plane makes these, or makes them again; service accounts of the four namespaces are its own."""
_FIRST: Final = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
"""Webhooks of a deleted cluster do not answer."""
_WAIT_SECONDS: Final = 20.0
_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class _Type:
    path: str
    plural: str
    namespaced: bool


def empty(api: ClusterApi, clock: Clock) -> None:
    """Remove every node and every object that the control plane did not make itself, and wait until they are gone."""
    types = sorted(_types(api), key=lambda kind: kind.plural not in _FIRST)
    for kind in types:
        if kind.plural in _FIRST or kind.plural == "nodes":
            _delete_all(api, kind)
    for namespace in _other_namespaces(api):
        _delete(api, f"{_NAMESPACES}/{namespace['name']}", namespace)
    for kind in sorted(types, key=lambda kind: kind.plural == "customresourcedefinitions"):
        if kind.plural not in _KEPT_KINDS:
            _delete_all(api, kind)
    waited = 0.0
    while remaining := [str(namespace["name"]) for namespace in _other_namespaces(api)]:
        if waited > _WAIT_SECONDS:
            _LOG.warning("namespaces still there after %.0f s: %s", waited, ", ".join(remaining))
            return
        clock.pause(_POLL_SECONDS)
        waited += _POLL_SECONDS


def _types(api: ClusterApi) -> Iterator[_Type]:
    versions = ["/api/v1"]
    versions += [f"/apis/{group['preferredVersion']['groupVersion']}" for group in api.get("/apis")["groups"]]
    for version in versions:
        answer = api.request("GET", version)
        if answer.status_code != HTTPStatus.OK:
            continue  # an aggregated API whose server went with its cluster
        for resource in answer.json()["resources"]:
            if {"list", "delete"} <= set(resource["verbs"]) and "/" not in resource["name"]:
                yield _Type(f"{version}/{resource['name']}", resource["name"], resource["namespaced"])


def _other_namespaces(api: ClusterApi) -> list[dict[str, Any]]:
    metadata = [item["metadata"] for item in api.get(_NAMESPACES)["items"]]
    return [namespace for namespace in metadata if namespace["name"] not in _OWN_NAMESPACES]


def _delete_all(api: ClusterApi, kind: _Type) -> None:
    answer = api.request("GET", kind.path)
    if answer.status_code != HTTPStatus.OK:
        return
    for item in answer.json()["items"]:
        if not _is_control_planes_own(kind, item):
            _delete(api, _path(kind, item["metadata"]), item["metadata"])


def _path(kind: _Type, metadata: Mapping[str, Any]) -> str:
    if not kind.namespaced:
        return f"{kind.path}/{metadata['name']}"
    version = kind.path.removesuffix(f"/{kind.plural}")
    return f"{version}/namespaces/{metadata['namespace']}/{kind.plural}/{metadata['name']}"


def _is_control_planes_own(kind: _Type, item: Mapping[str, Any]) -> bool:
    metadata = item["metadata"]
    name, labels = metadata["name"], metadata.get("labels") or {}
    return (
        name in _OWN_NAMES
        or name.startswith("system:")
        or "kubernetes.io/bootstrapping" in labels
        or (kind.plural == "priorityclasses" and name.startswith("system-"))
    )


def _delete(api: ClusterApi, path: str, metadata: Mapping[str, Any]) -> None:
    if metadata.get("finalizers"):
        api.request("PATCH", path, {"metadata": {"finalizers": None}})
    answer = api.request("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})
    if answer.status_code not in (HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND):
        _LOG.warning("%s stays: %s", path, answer.text.strip()[:300])
