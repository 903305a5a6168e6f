"""The payload's API client: what it sends, what it bears with, what it gives up on."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import trustme
from aks_infiniband.validation.payload.talk.api import Api, ApiError, in_cluster_url

from tests.unit.validation.fake_api import FakeApi


@pytest.fixture
def fake() -> Any:
    with FakeApi() as api:
        api.config_maps["report"] = {}
        yield api


def client(fake: Any, **options: Any) -> Any:
    slept: list[float] = []
    api = Api(fake.url, sleep=slept.append, **options)
    return api, slept


def test_the_token_is_sent_and_read_anew_for_each_request(fake: Any, tmp_path: Any) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    api, _ = client(fake, token=token)
    api.config_map_data("ns", "report")
    token.write_text("second")
    api.config_map_data("ns", "report")

    assert [headers["Authorization"] for _, _, headers, _ in fake.requests] == ["Bearer first", "Bearer second"]


def test_nodes_are_asked_for_by_label(fake: Any) -> None:
    fake.nodes = [
        {"metadata": {"name": "n0", "labels": {"agentpool": "a"}}},
        {"metadata": {"name": "n1", "labels": {}}},
    ]
    api, _ = client(fake)

    assert [node["metadata"]["name"] for node in api.nodes("agentpool=a")] == ["n0"]


def test_a_key_is_merged_into_the_config_map_and_another_removed(fake: Any) -> None:
    fake.config_maps["report"] = {"old": "1", "kept": "2"}
    api, _ = client(fake)
    api.merge_config_map_data("ns", "report", {"new": "3", "old": None})

    assert fake.config_maps["report"] == {"kept": "2", "new": "3"}
    method, path, headers, _ = fake.requests[0]
    assert (method, path) == (
        "PATCH",
        "/api/v1/namespaces/ns/configmaps/report?fieldManager=aks-infiniband-validation",
    )
    assert headers["Content-Type"] == "application/merge-patch+json"


def test_a_config_map_without_data_is_empty(fake: Any) -> None:
    api, _ = client(fake)
    assert api.config_map_data("ns", "report") == {}


@pytest.mark.parametrize("status", [403, 409, 429, 500, 503])
def test_what_passes_by_itself_is_tried_again(fake: Any, status: Any) -> None:
    fake.refusals = [status, status]
    api, slept = client(fake)

    assert api.config_map_data("ns", "report") == {}
    assert 0.5 <= slept[0] <= 1.5
    assert 1 <= slept[1] <= 3


def test_what_does_not_pass_is_given_up_after_some_tries(fake: Any) -> None:
    fake.refusals = [503] * 9
    api, slept = client(fake, attempts=3)

    with pytest.raises(ApiError, match="GET /api/v1/namespaces/ns/configmaps/report: status 503: not now"):
        api.config_map_data("ns", "report")
    assert (len(fake.requests), len(slept)) == (3, 2)


def test_what_will_never_be_right_is_not_tried_again(fake: Any) -> None:
    api, slept = client(fake)

    with pytest.raises(ApiError, match='status 404: configmaps "other" not found'):
        api.config_map_data("ns", "other")
    assert slept == []


def test_nodes_are_asked_for_once_because_awaiting_them_polls(fake: Any) -> None:
    fake.refusals = [503]
    api, slept = client(fake)

    with pytest.raises(ApiError):
        api.nodes("agentpool=a")
    assert slept == []


def test_nobody_listening_is_an_error_without_a_status() -> None:
    with FakeApi() as gone:
        url = gone.url
    with pytest.raises(ApiError, match="no answer") as caught:
        Api(url, attempts=1).config_map_data("ns", "report")
    assert caught.value.status is None
    assert caught.value.transient


def test_a_token_that_is_not_there_is_an_error_that_names_it(fake: Any, tmp_path: Any) -> None:
    api, _ = client(fake, token=tmp_path / "missing", attempts=1)
    with pytest.raises(ApiError, match="missing"):
        api.config_map_data("ns", "report")


def test_a_proxy_in_the_environment_is_not_used(fake: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    api, _ = client(fake, attempts=1)
    assert api.config_map_data("ns", "report") == {}


@pytest.mark.parametrize(("host", "url"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")])
def test_the_address_is_the_kubelets(host: Any, url: Any) -> None:
    assert in_cluster_url({"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}) == url


def test_outside_a_cluster_the_address_has_to_be_given() -> None:
    with pytest.raises(ApiError, match="--api"):
        in_cluster_url({})


@pytest.fixture
def https(tmp_path: Any) -> Any:
    """An HTTPS server whose certificate a test CA has signed; yields its URL and the CA's file."""
    ca, chain = trustme.CA(), tmp_path / "chain.pem"
    ca.cert_pem.write_to_path(tmp_path / "ca.crt")
    ca.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(chain)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> Any:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"data": {"a": "1"}}')

        def log_message(self, *_: Any) -> Any:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}", tmp_path / "ca.crt"
    server.shutdown()
    server.server_close()


def test_the_servers_certificate_is_verified_against_the_clusters_ca(https: Any) -> None:
    url, ca = https
    assert Api(url, ca=ca).config_map_data("ns", "report") == {"a": "1"}


def test_a_server_that_the_ca_does_not_vouch_for_is_refused(https: Any) -> None:
    url, _ = https
    with pytest.raises(ApiError, match="CERTIFICATE_VERIFY_FAILED"):
        Api(url, attempts=1).config_map_data("ns", "report")
