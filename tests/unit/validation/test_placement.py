"""Azure's placement of a pool's machines: read from each, compared, and never a reason to hang or to fail."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from aks_infiniband.validation.payload.look.placement import read_placement

SCALE_SET = "aks-ndh100-33735988-vmss"


class Metadata(BaseHTTPRequestHandler):
    """The service as Azure documents it: it answers who sends the header Metadata and names a version."""

    group = "f5a4"

    def do_GET(self) -> None:
        asked = self.headers.get("Metadata") == "true" and "api-version=" in self.path
        compute = {"placementGroupId": self.group, "vmScaleSetName": SCALE_SET, "vmSize": "Standard_ND96isr_H100_v5"}
        text = json.dumps(compute if asked else {"error": "Bad request"}).encode()
        self.send_response(200 if asked else 400)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Metadata) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/metadata/instance/compute"
        server.shutdown()


def test_a_machine_is_asked_for_its_placement_group_without_a_proxy(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    found = read_placement(f"{service}?api-version=2021-02-01")
    assert found == {"group": "f5a4", "scale_set": SCALE_SET, "said": None}


def test_a_machine_outside_of_any_group_says_so(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Metadata, "group", "")
    assert read_placement(f"{service}?api-version=2021-02-01")["said"] == "the metadata name no placement group"


def test_a_refusal_is_said_with_its_code(service: str) -> None:
    assert read_placement(service)["said"] == "the metadata service answers 400 Bad Request"


def test_a_service_that_never_answers_is_not_waited_for() -> None:
    with HTTPServer(("127.0.0.1", 0), Metadata) as silent:
        found = read_placement(f"http://127.0.0.1:{silent.server_port}/", timeout_seconds=0.2)
    assert found["said"] == "the metadata service does not answer (timed out)"
