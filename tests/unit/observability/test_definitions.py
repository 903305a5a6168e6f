"""The definitions of a Prometheus are looked up in a cluster before anything is made in it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from aks_infiniband.observability.definitions import DefinitionsError, absent, required
from aks_infiniband.observability.documents import Prometheus

from tests.unit.command_line.loopback import kubeconfig, serving


def asked(cluster: str, prometheus: Prometheus) -> str:
    """The kubeconfig with which the program continues."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(required(cluster, prometheus))
    finally:
        loop.close()


class Server:
    """An API server that knows some kinds by their plurals, and refuses others."""

    def __init__(self) -> None:
        self.known, self.forbidden = set[str](), False
        self.kubeconfig = ""

    def answer(self, path: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        api, plural = path.removeprefix("/apis/").split("/namespaces/default/")
        if self.forbidden:
            return 403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"}, {}
        listed = {"kind": "List", "apiVersion": api, "metadata": {}, "items": []}
        return (200, listed, {}) if f"{plural}.{api}" in self.known else (404, {"kind": "Status", "code": 404}, {})


@pytest.fixture
def server() -> Iterator[Server]:
    there = Server()
    with serving(there.answer) as url:
        there.kubeconfig = kubeconfig(url)
        yield there


def test_each_kind_that_is_missing_is_named_with_the_command_that_brings_it(server: Server) -> None:
    with pytest.raises(DefinitionsError, match=r"no PodMonitor and no PrometheusRule of monitoring.*helm install"):
        asked(server.kubeconfig, "kube-prometheus")
    server.known = {"podmonitors.monitoring.coreos.com/v1"}
    with pytest.raises(DefinitionsError, match=r"has no PrometheusRule of monitoring.coreos.com/v1"):
        asked(server.kubeconfig, "kube-prometheus")
    with pytest.raises(DefinitionsError, match=r"no PodMonitor of azmonitoring.coreos.com/v1.*az aks update"):
        asked(server.kubeconfig, "azure")


def test_a_cluster_that_has_them_is_gone_on_with(server: Server) -> None:
    server.known = {f"{kind}.monitoring.coreos.com/v1" for kind in ("podmonitors", "prometheusrules")}
    assert asked(server.kubeconfig, "kube-prometheus") == server.kubeconfig


def test_a_cluster_that_does_not_say_is_gone_on_with_and_why_is_known(server: Server) -> None:
    """The Kubernetes provider says why, in its own words, when it comes to them."""
    server.forbidden = True
    nobody = kubeconfig("https://127.0.0.1:1")
    for cluster, why in ((server.kubeconfig, "no"), (nobody, "refused"), ("{}", "kubeconfig")):
        assert asked(cluster, "azure") == cluster
        kinds, unread = absent(cluster, "azure")
        assert kinds == []
        assert why in unread[0]
