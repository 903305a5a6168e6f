"""A client of a cluster, and the errors of a request without an answer. Importing it takes a second."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final

from aks_infiniband.access.client import connect
from aks_infiniband.diagnosis.ownership import trusted_namespaces
from aks_infiniband.diagnosis.view import View
from aks_infiniband.handwritten import HandwrittenError, json_document, shortened
from aks_infiniband.handwritten.form import Form, formed
from httpx2 import DecodingError, HTTPError, HTTPStatusError, Response
from lightkube import ApiError, Client
from lightkube.core.exceptions import ConfigError
from lightkube.resources.apps_v1 import DaemonSet

from aks_infiniband_cli.console import CommandError

NO_ANSWER: Final = (HTTPError, ConfigError)
"""The errors of a request. The API server refuses, is silent, is not there, or answers with something else. Or the
program that logs in fails, as kubelogin does if the login has expired.
"""
_REQUEST_SECONDS: Final = 30.0
_SHOWN: Final = 60
"""Characters of an answer in an error."""


def connected(kubeconfig: str) -> Client:
    """A client of the cluster of a kubeconfig (YAML). Raises CommandError if the text is not a kubeconfig."""
    try:
        client = connect(kubeconfig, request_seconds=_REQUEST_SECONDS)
    except Exception as error:  # whatever a broken kubeconfig brings
        raise CommandError(f"the kubeconfig cannot be used: {type(error).__name__}: {error}") from error
    # lightkube decodes a server's answer before the caller can look at it, and does not offer a hook for that.
    client._client._client.event_hooks["response"].append(refuse_odd)
    return client


def operators_in(client: Client) -> set[str]:
    """The namespaces whose pods are believed to be an operator's. Raises NO_ANSWER."""
    return trusted_namespaces(
        View(daemon_sets=[daemon_set.to_dict() for daemon_set in client.list(DaemonSet, namespace="*")])
    )


@contextmanager
def refusal_allowed(*statuses: HTTPStatus) -> Iterator[None]:
    """End a block quietly if the API server refuses a request in it with one of these statuses."""
    try:
        yield
    except ApiError as error:
        if error.status.code not in statuses:
            raise


class _Metadata(Form):
    name: str
    namespace: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(Form):
    metadata: _Metadata
    spec: dict[str, Any] | None = None
    status: dict[str, Any] | None = None


class _List(Form):
    items: list[_Object]


class _MetadataList(Form):
    items: list[_Object] | None
    """The API server lists null if there is nothing."""


class _Status(Form):
    message: str | None = None


def refuse_odd(response: Response) -> None:
    """Refuse an answer that no API server of Kubernetes gives, such as a proxy's page. Raises DecodingError."""
    path = response.request.url.path
    if path.endswith("/log") or "watch" in response.request.url.params:
        return
    text = response.read()
    kind = response.headers.setdefault("Content-Type", "text/plain")  # lightkube requires it
    if response.is_error and kind != "application/json":  # such as a proxy's page, or an API that there is not
        said = f"{_place(response)} with status {response.status_code}: {_begins(text)}"
        raise HTTPStatusError(said, request=response.request, response=response)
    try:
        document = json_document(text)
        if response.is_error:
            formed(_Status, document)
        elif response.request.method == "GET":
            formed(_form_of_list(response) if _lists(path) else _Object, document)
    except HandwrittenError as error:
        raise DecodingError(
            f"{_place(response)} with what no API server of Kubernetes says, so another program or a proxy is there: "
            f"{error.at_its_place()}; it begins with {_begins(text)}",
            request=response.request,
        ) from error


def _place(response: Response) -> str:
    url, method = response.url, response.request.method
    return f"{url.scheme}://{url.netloc.decode('ascii')} answers {method} {url.path}"


def _begins(text: bytes) -> str:
    return shortened(text[:_SHOWN].decode("utf-8", errors="replace"))


def _form_of_list(response: Response) -> type[_List | _MetadataList]:
    return _MetadataList if "PartialObjectMetadataList" in response.request.headers.get("Accept", "") else _List


def _lists(path: str) -> bool:
    """True if a path names a kind, not one object: /api/v1/nodes, /apis/batch/v1/namespaces/x/jobs."""
    # The part before it belongs to a proxy, such as Rancher's.
    words = re.sub(r"^.*?/(api/[^/]+|apis/[^/]+/[^/]+)/(namespaces/[^/]+/(?=.))?", "", path).split("/")
    return len(words) == 1
