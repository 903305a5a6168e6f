"""Azure Resource Manager's own address, for what a program asks past azure-native: to register a resource provider.

It takes the token that azure-native gives out, whose audience is this address, as a token of each of Azure's clouds
names that cloud's (pulumi-azure-native, provider/pkg/provider/provider.go, tokenEndpoint).
"""

import base64
import hmac
import json
import logging
import re
import secrets
import threading
import urllib.parse
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from rehearsal.azure import request_faults
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, bad_request
from rehearsal.azure.resources import features

_LOG: Final = logging.getLogger(__name__)
_REGISTER: Final = re.compile(r"/subscriptions/([^/]+)/providers/([^/]+)/register", re.IGNORECASE)
_PROVIDER: Final = "azure-native:resources:Provider"
"""How faults name it. azure-native has no such type."""


def serve_resource_manager(cloud: Cloud) -> ThreadingHTTPServer:
    """Serve on loopback until its `shutdown`; the cloud's token is made for it."""

    class Visitor(BaseHTTPRequestHandler):
        """One connection, in a thread of its own."""

        def do_POST(self) -> None:
            """Answer with a JSON body, as Azure does."""
            try:
                status, body = HTTPStatus.OK, answer(cloud, self.path, self.headers.get("Authorization"))
            except AzureError as error:
                _LOG.info("refused: %s", error)
                status, body = error.status, {"error": {"code": error.code, "message": error.message}}
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: what is refused is logged above."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Visitor)
    server.daemon_threads = True
    cloud.token = _token(f"http://127.0.0.1:{server.server_address[1]}/")
    threading.Thread(target=server.serve_forever, name="Azure Resource Manager", daemon=True).start()
    return server


def _token(audience: str) -> str:
    """A JSON Web Token as Entra ID makes them, with a random signature, which nobody but its maker can check."""
    parts = [json.dumps(part).encode() for part in ({"typ": "JWT", "alg": "RS256"}, {"aud": audience})]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, secrets.token_bytes(32)))


def answer(cloud: Cloud, target: str, authorization: str | None) -> dict[str, Any]:
    """The body of the answer to a POST. target: path and query. Raises AzureError."""
    if not authorization:
        raise AzureError(
            HTTPStatus.UNAUTHORIZED,
            "AuthenticationFailed",
            "Authentication failed. The 'Authorization' header is missing.",
        )
    if not hmac.compare_digest(authorization.encode(), f"Bearer {cloud.token}".encode()):
        raise AzureError(HTTPStatus.UNAUTHORIZED, "InvalidAuthenticationToken", "The access token is invalid.")
    asked = urllib.parse.urlsplit(target)
    if "api-version" not in urllib.parse.parse_qs(asked.query):
        raise bad_request(
            "MissingApiVersionParameter",
            "The api-version query parameter (?api-version=) is required for all requests.",
        )
    found = _REGISTER.fullmatch(asked.path)
    if found is None:
        raise AzureError(HTTPStatus.NOT_FOUND, "NotFound", f"This rehearsal does not simulate a POST of {asked.path}.")
    return _register(cloud, *found.groups())


def _register(cloud: Cloud, subscription: str, namespace: str) -> dict[str, Any]:
    if subscription != cloud.subscription.subscription_id:
        raise AzureError(
            HTTPStatus.NOT_FOUND, "SubscriptionNotFound", f"The subscription '{subscription}' could not be found."
        )
    known = {name.partition("/")[0].casefold(): name.partition("/")[0] for name in cloud.subscription.features}
    if namespace.casefold() not in known:
        raise AzureError(
            HTTPStatus.NOT_FOUND, "InvalidResourceNamespace", f"The resource namespace '{namespace}' is invalid."
        )
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
