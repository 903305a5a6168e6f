"""The definitions of a Prometheus are looked up in a cluster before anything is made in it."""

import asyncio
from typing import Any

import pytest
from aks_infiniband.observability.definitions import DefinitionsError, absent, required
from aks_infiniband.observability.documents import Prometheus

from tests.unit.command_line.loopback import kubeconfig
from tests.unit.components.others_cluster import OthersCluster, listed

KUBE_PROMETHEUS = "monitoring.coreos.com/v1"


def asked(cluster: str, prometheus: Prometheus) -> str:
    """The kubeconfig with which the program continues."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(required(cluster, prometheus))
    finally:
        loop.close()


def known(*kinds: str) -> dict[str, Any]:
    """The answers of an API server that knows these kinds."""
    return {f"/apis/{KUBE_PROMETHEUS}/namespaces/default/{kind}": listed() for kind in kinds}


def test_each_kind_that_is_missing_is_named_with_the_command_that_brings_it(others: OthersCluster) -> None:
    with pytest.raises(DefinitionsError, match=r"no PodMonitor and no PrometheusRule of monitoring.*helm install"):
        asked(others.kubeconfig, "kube-prometheus")
    others.answers = known("podmonitors")
    with pytest.raises(DefinitionsError, match=r"has no PrometheusRule of monitoring.coreos.com/v1"):
        asked(others.kubeconfig, "kube-prometheus")
    with pytest.raises(DefinitionsError, match=r"no PodMonitor of azmonitoring.coreos.com/v1.*az aks update"):
        asked(others.kubeconfig, "azure")


def test_a_cluster_that_has_them_is_gone_on_with(others: OthersCluster) -> None:
    others.answers = known("podmonitors", "prometheusrules")
    assert asked(others.kubeconfig, "kube-prometheus") == others.kubeconfig


def test_a_cluster_that_does_not_say_is_gone_on_with_and_why_is_known(others: OthersCluster) -> None:
    """The Kubernetes provider says why, in its own words, when it comes to them."""
    others.answers = {"/apis/azmonitoring.coreos.com/v1/namespaces/default/podmonitors": 403}
    nobody = kubeconfig("https://127.0.0.1:1")
    for cluster, why in ((others.kubeconfig, "no"), (nobody, "refused"), ("{}", "kubeconfig")):
        assert asked(cluster, "azure") == cluster
        kinds, unread = absent(cluster, "azure")
        assert kinds == []
        assert why in unread[0]
