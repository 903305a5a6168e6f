"""A user who is logged in to Azure, or none, with Azure as `arm` on the loopback address."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.preflight import all_checks as before
from aks_infiniband_cli.preflight import charts, registry, retail_prices
from aks_infiniband_cli.teardown import leftovers as after
from azure.core.credentials import AccessToken

from tests.unit.command_line.arm import CALLER, Arm
from tests.unit.command_line.loopback import certified, serving

ROOT = Path(__file__).parents[3]
SUBSCRIPTION = "11111111-2222-4333-8444-555555555555"


class Credential:
    """A user who is logged in, or none."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def get_token(self, *_scopes: str, **_more: Any) -> AccessToken:
        if self._error is not None:
            raise self._error
        payload = base64.urlsafe_b64encode(json.dumps({"oid": CALLER}).encode()).decode().rstrip("=")
        return AccessToken(f"head.{payload}.signature", int(time.time()) + 3600)


@contextmanager
def logged_in(arm: Arm, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve it, with TLS as Azure's clients demand, in place of all outside servers; yields its URL."""
    certificate = certified(folder)
    with serving(arm.reply, certificate) as url:
        in_place_of_the_world(url, certificate, patch)
        yield url


def in_place_of_the_world(url: str, certificate: Path, patch: pytest.MonkeyPatch) -> None:
    """Have this process call the URL, as a user who is logged in there."""
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        patch.setenv(name, str(certificate))
    patch.setenv("ARM_SUBSCRIPTION_ID", SUBSCRIPTION)
    patch.setenv("NO_PROXY", "127.0.0.1")
    for room in (before, after):
        patch.setattr(room, "login", Credential)
        patch.setattr(room, "endpoint_of", lambda _: url)
    patch.setattr(retail_prices, "URL", f"{url}/api/retail/prices")
    patch.setattr(registry, "url_of", lambda _: url)
    patch.setattr(registry, "SECONDS", 120.0)  # this machine may be busy
    patch.setattr(charts, "index_of", lambda _: f"{url}/charts/index.yaml")
