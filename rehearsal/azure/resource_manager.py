"""Azure Resource Manager's own addresses: over HTTP for a program's requests past azure-native, and over TLS for
people.

A program registers a resource provider. `aks-infiniband preflight` and `teardown` read, through Azure's clients, which
speak TLS only. Both take the token that azure-native gives out, whose audience is the first address, as a token of each
of Azure's clouds names that cloud's (pulumi-azure-native, provider/pkg/provider/provider.go, tokenEndpoint).
"""

import base64
import hmac
import json
import logging
import re
import secrets
import ssl
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from rehearsal.azure import actions, machine_requests, permitted, request_faults
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, refused
from rehearsal.azure.reads import read
from rehearsal.azure.resources import features
from rehearsal.azure.store import Record
from rehearsal.run.folder import RunFolder, write_atomically

_LOG: Final = logging.getLogger(__name__)
_REGISTER: Final = re.compile(r"/subscriptions/([^/]+)/providers/([^/]+)/register", re.IGNORECASE)
_AT_ONCE: Final = 0.1
_ASKED_EVERY: Final = 30.0
"""Seconds between two questions of Azure's clients for an operation. Azure itself names none (recorded:
aks-cluster-accepted); here the answer does, because the rehearsal's clock is faster."""
_AKS: Final = "/providers/microsoft.containerservice/managedclusters/"
"""In the path of a request that AKS answers, in small letters."""
_PROVIDER: Final = "azure-native:resources:Provider"
"""Its name in faults. azure-native does not have such a type."""


def serve_resource_manager(cloud: Cloud) -> ThreadingHTTPServer:
    """Serve on loopback until its `shutdown`; the cloud's token is made for it."""
    server = _serve(cloud)
    cloud.token = _token(f"http://127.0.0.1:{server.server_address[1]}/", cloud.subscription.client.object_id)
    return server


def serve_people(cloud: Cloud, run: RunFolder) -> ThreadingHTTPServer:
    """Serve the same over TLS, and write down the address, and the token of the user who is logged in, for a shell in
    the run.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(run.pki / "machines.crt", run.pki / "machines.key")
    server = _serve(cloud, context)
    login = {
        "endpoint": f"https://127.0.0.1:{server.server_address[1]}",
        "token": cloud.token,
        "subscription": cloud.subscription.subscription_id,
        "certificateAuthority": str(run.pki / "ca.crt"),
    }
    write_atomically(run.azure_login, json.dumps(login), mode=0o600)
    return server


def _serve(cloud: Cloud, tls: ssl.SSLContext | None = None) -> ThreadingHTTPServer:
    class Visitor(BaseHTTPRequestHandler):
        """One connection, in a separate thread."""

        def do_GET(self) -> None:
            """Answer a read."""
            self._say(lambda: answer_read(cloud, self.path, self.headers.get("Authorization")))

        def do_POST(self) -> None:
            """Answer an action."""
            body = self._body()
            self._say(lambda: answer(cloud, self.path, self.headers.get("Authorization"), body))

        def do_PUT(self) -> None:
            """Answer a change of what is there."""
            body = self._body()
            matching = self.headers.get("If-Match")
            self._say(lambda: answer_put(cloud, self.path, self.headers.get("Authorization"), body, matching))

        def _body(self) -> Mapping[str, Any]:
            return dict(json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}"))

        def _say(self, asked: Callable[[], Mapping[str, Any] | Accepted]) -> None:
            """A JSON body, as Azure does; for an operation that has begun, with the address of its status."""
            status, body, operation = _answered(self.path, asked)
            text = json.dumps(body).encode() if body else b""
            self.send_response(status)
            if operation:
                scheme = "http" if tls is None else "https"
                self.send_header("Azure-AsyncOperation", f"{scheme}://{self.headers['Host']}{operation}")
            again = cloud.clock.latencies.of(_ASKED_EVERY)
            # Azure's clients send a refused request again if its answer says when (azure-core, RetryPolicy.is_retry).
            if again > _AT_ONCE and (status < HTTPStatus.BAD_REQUEST or status == HTTPStatus.TOO_MANY_REQUESTS):
                self.send_header("Retry-After", str(max(1, round(again))))
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: what is refused is logged above."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Visitor)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, name="Azure Resource Manager", daemon=True).start()
    return server


def _token(audience: str, object_id: str) -> str:
    """A JSON Web Token as Entra ID makes them, with a random signature, which only its maker can check."""
    parts = [
        json.dumps(part).encode() for part in ({"typ": "JWT", "alg": "RS256"}, {"aud": audience, "oid": object_id})
    ]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, secrets.token_bytes(32)))


class Accepted(NamedTuple):
    """An answer. operation: the path of the operation's status; empty if none has begun."""

    status: HTTPStatus
    body: Mapping[str, Any]
    operation: str


def _answered(target: str, asked: Callable[[], Mapping[str, Any] | Accepted]) -> Accepted:
    try:
        accepted = asked()
    except AzureError as error:
        _LOG.info("refused: %s", error)
        return Accepted(error.status, error.body(of_aks=_AKS in target.casefold()), "")
    return accepted if isinstance(accepted, Accepted) else Accepted(HTTPStatus.OK, accepted, "")


def answer(cloud: Cloud, target: str, authorization: str | None, body: Mapping[str, Any] | None = None) -> Accepted:
    """The answer to a POST. target: path and query. Raises AzureError."""
    asked = _admitted(cloud, "POST", target, authorization)
    match = _REGISTER.fullmatch(asked.path)
    if match is not None:
        return Accepted(HTTPStatus.OK, _register(cloud, *match.groups()), "")
    path = urllib.parse.unquote(asked.path)
    if begun := machine_requests.ask(cloud, path):
        return Accepted(HTTPStatus.ACCEPTED, {}, begun)
    record = actions.post(cloud, path, body or {})
    return Accepted(HTTPStatus.ACCEPTED, {}, _operation_of(cloud, record))


def answer_put(
    cloud: Cloud, target: str, authorization: str | None, body: Mapping[str, Any], matching: str | None = None
) -> Accepted:
    """The answer to a PUT of what is there. target: path and query; matching: If-Match. Raises AzureError."""
    asked = _admitted(cloud, "PUT", target, authorization)
    record = actions.put(cloud, urllib.parse.unquote(asked.path), body, matching)
    return Accepted(HTTPStatus.OK, actions.shown(cloud, record), _operation_of(cloud, record))


def _operation_of(cloud: Cloud, record: Record) -> str:
    name = record.operation.id if record.operation else record.details["lastOperation"]["id"]
    own = f"/subscriptions/{cloud.subscription.subscription_id}/providers/Microsoft.ContainerService"
    cluster = cloud.store.get(record.id.partition("/agentPools/")[0])
    region = cluster.outputs["location"] if cluster else "none"
    return f"{own}/locations/{region}/operations/{name}?api-version=2016-03-30"


def answer_read(cloud: Cloud, target: str, authorization: str | None) -> Mapping[str, Any]:
    """The body of the answer to a GET. target: path and query. Raises AzureError."""
    asked = _admitted(cloud, "GET", target, authorization)
    query = urllib.parse.parse_qs(asked.query)
    with cloud.clock.changed:
        return read(cloud, urllib.parse.unquote(asked.path), "".join(query.get("$filter", [])))


def _admitted(cloud: Cloud, method: str, target: str, authorization: str | None) -> urllib.parse.SplitResult:
    if not authorization:
        raise refused("no-token")
    if not hmac.compare_digest(authorization.encode(), f"Bearer {cloud.token}".encode()):
        raise refused("another-token")
    asked = urllib.parse.urlsplit(target)
    if "api-version" not in urllib.parse.parse_qs(asked.query):
        raise refused("no-api-version")
    permitted.require(cloud.subscription.client, method, urllib.parse.unquote(asked.path))
    return asked


def _register(cloud: Cloud, subscription: str, namespace: str) -> dict[str, Any]:
    if subscription != cloud.subscription.subscription_id:
        raise refused("another-subscription", subscription=subscription)
    known = {name.partition("/")[0].casefold(): name.partition("/")[0] for name in cloud.subscription.features}
    if namespace.casefold() not in known:
        raise refused("no-such-provider", namespace=namespace)
    namespace = known[namespace.casefold()]
    resource = f"/subscriptions/{subscription}/providers/{namespace}"
    with cloud.clock.changed:
        request_faults.meet(cloud, _PROVIDER, resource, "create")
        features.tell_provider(cloud, namespace)
    _LOG.info("%s is registered again", namespace)
    return {
        "id": resource,
        "namespace": namespace,
        "registrationPolicy": "RegistrationRequired",
        "registrationState": "Registered",
        "resourceTypes": [],
    }
