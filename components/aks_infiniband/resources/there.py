"""Reads objects of a cluster by their names, and finds their makers; never writes."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from aks_infiniband.resources.metadata import PART_OF

Object = Mapping[str, Any]
"""As the API server writes it down; here its metadata alone."""
HELM_NAME: Final = "meta.helm.sh/release-name"
HELM_NAMESPACE: Final = "meta.helm.sh/release-namespace"
"""Annotations of everything that Helm has made (helm/helm 00ae949, pkg/action/validate.go)."""
_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
_NAMED_BY_SERVER: Final = "f:kubernetes.io/metadata.name"
"""The label that the API server gives a namespace when it is made. The first manager owns it if that made the namespace
without server-side apply, as kubectl and Helm do; of those that Pulumi makes, none does."""
_OURS: Final = "pulumi-kubernetes-"
"""Prefix of the managers of objects that Pulumi applies (pulumi-kubernetes 4.27.0)."""
_NOT_TOLD: Final = (httpx2.HTTPStatusError, httpx2.ReadTimeout, TimeoutError, ValueError)
"""Errors of an API server that exists and does not answer a question."""
_NOT_MAKERS: Final = ("kube-controller-manager", "cloud-controller-manager")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """The name of an object."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    """Empty for an object that is in no namespace."""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class There:
    """The findings for some names."""

    objects: Mapping[Named, Object] = field(default_factory=dict)
    """Metadata alone."""
    releases: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By namespace and name, the status that Helm has written down last."""
    unread: Sequence[str] = ()
    """Objects that the cluster did not report, and why."""
    reached: bool = True
    """True if an API server answered at all."""


@dataclass(slots=True)
class Looker:
    """Looks up names in one cluster, with one login."""

    kubeconfig: str
    http: httpx2.Client | None = None
    deadline: float = 0
    kinds: dict[str, dict[str, tuple[str, bool]]] = field(default_factory=dict)
    """By API version, the plural of each kind, and whether it is in namespaces."""

    def read(self, wanted: Iterable[Named], releases: Iterable[tuple[str, str]] = (), *, limit_seconds: float) -> There:
        """The objects of these names, and Helm's releases of these namespaces and names.

        Objects that cannot be read within the limit are named in `unread`.
        """
        self.deadline = time.monotonic() + limit_seconds
        try:
            self._connect(limit_seconds)
        except Exception as error:  # whatever a broken kubeconfig brings: the engine says it too
            return There(unread=[f"the kubeconfig: {type(error).__name__}: {error}"], reached=False)
        objects: dict[Named, Object] = {}
        statuses: dict[tuple[str, str], str] = {}
        unread: list[str] = []
        try:
            for named in wanted:
                try:
                    if present := self.object(named):
                        objects[named] = present
                except _NOT_TOLD as error:
                    unread.append(f"{named}: {type(error).__name__}: {error}")
            for namespace, name in releases:
                try:
                    if status := self.release(namespace, name):
                        statuses[namespace, name] = status
                except _NOT_TOLD as error:
                    unread.append(f"releases in {namespace}: {type(error).__name__}: {error}")
        except Exception as error:  # no connection, or a login that fails
            return There(unread=[f"the cluster: {type(error).__name__}: {error}"], reached=False)
        return There(objects=objects, releases=statuses, unread=unread)

    def _connect(self, limit_seconds: float) -> None:
        from aks_infiniband.access.client import connect_plainly  # noqa: PLC0415  a client takes long to load

        self.http = self.http or connect_plainly(self.kubeconfig, request_seconds=limit_seconds)

    def object(self, named: Named) -> Object | None:
        """The metadata of an object; None if there is none, or the cluster does not know its kind."""
        known = self._kind(named)
        if known is None:
            return None
        plural, namespaced = known
        place = f"namespaces/{named.namespace}/" if namespaced else ""
        path = f"{_root(named.api_version)}/{place}{plural}/{named.name}"
        answer: Object | None = self._get(path, accept=_METADATA_ONLY.format(""))
        return answer

    def release(self, namespace: str, name: str) -> str | None:
        """The last status of a release; None if Helm has none of that name."""
        answer = self._get(
            f"/api/v1/namespaces/{namespace}/secrets",
            accept=_METADATA_ONLY.format("List"),
            labelSelector=f"owner=helm,name={name}",
        )
        records = [item["metadata"]["labels"] for item in (answer or {}).get("items") or ()]
        last = max(records, key=lambda labels: int(labels.get("version") or 0), default=None)
        return None if last is None else str(last.get("status"))

    def _kind(self, named: Named) -> tuple[str, bool] | None:
        """A kind that was not there is looked for again: a chart may have brought it."""
        if named.kind not in self.kinds.get(named.api_version, {}):
            answer = self._get(_root(named.api_version), accept="application/json") or {}
            self.kinds[named.api_version] = {
                known["kind"]: (known["name"], known["namespaced"])
                for known in answer.get("resources") or ()
                if "/" not in known["name"]
            }
        return self.kinds[named.api_version].get(named.kind)

    def _get(self, path: str, *, accept: str, **params: str) -> Any:
        """An answer; None if there is nothing of that name."""
        if time.monotonic() > self.deadline:
            raise TimeoutError("no time left")
        if self.http is None:
            raise ValueError("not connected")
        answer = self.http.get(path, params=params, headers={"Accept": accept})
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        return answer.raise_for_status().json()


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def helm_release(present: Object) -> tuple[str, str] | None:
    """Namespace and name of the Helm release that made an object; None if none did."""
    said = present["metadata"].get("annotations") or {}
    return (str(said.get(HELM_NAMESPACE)), str(said[HELM_NAME])) if HELM_NAME in said else None


def made_by(present: Object) -> str:
    """The maker of an object, in words, by Helm's annotations or else by its field managers."""
    release = helm_release(present)
    if release is not None:
        return f"Helm release {'/'.join(release)}"
    names = [
        str(entry.get("manager"))
        for entry in sorted(present["metadata"].get("managedFields") or (), key=lambda entry: str(entry.get("time")))
        if not entry.get("subresource") and entry.get("manager") not in _NOT_MAKERS
    ]
    others = [name for name in names if not name.startswith(_OURS)] or names
    return ", ".join(dict.fromkeys(others)) or "an unknown field manager"


def bears_our_mark(present: Object) -> bool:
    """True if an object has the label of everything that this program makes."""
    return PART_OF.items() <= (present["metadata"].get("labels") or {}).items()


def was_taken_over(present: Object) -> bool:
    """True if another program made a namespace that has our mark."""
    return bears_our_mark(present) and any(
        _NAMED_BY_SERVER in ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:labels", {})
        for entry in present["metadata"].get("managedFields") or ()
        if not str(entry.get("manager")).startswith(_OURS)
    )
