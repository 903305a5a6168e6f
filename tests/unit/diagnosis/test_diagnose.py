"""Diagnoses beyond the cases: many findings, words of a rehearsal, answers of Azure, the namespace of a wait."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.azure import azure_findings
from aks_infiniband.diagnosis.diagnose import diagnose, render
from aks_infiniband.diagnosis.error_hook import wait_of
from aks_infiniband.diagnosis.view import View
from pulumi import ErrorHookArgs

from rehearsal.machines.pods.behaviours import behaviours
from tests.unit.diagnosis.cases import CASES
from tests.unit.diagnosis.views import JOB, job, node

OTHERS = CASES.folder / "waits-others.yaml"


def test_a_hundred_of_the_same_are_cut_short() -> None:
    view = View(nodes=[node(f"n{index}", ready="False") for index in range(100)], jobs=[job()])
    text = render(JOB, diagnose(JOB, view, ()))
    assert text.count("is not Ready") < 30
    assert "more of the kind" in text


@pytest.mark.parametrize("row", ["gpuDriver", "ofedDriver"])
def test_a_driver_beside_the_node_images_own_names_both_settings(row: str) -> None:
    """In the words with which a rehearsal's driver pod ends there, and its node with it."""
    (crash,) = [crash for crash in behaviours()[row].crashes if crash.breaks_node]
    ended = {"terminated": {"exitCode": 1, "message": crash.message}}
    crashed = {"name": "driver", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    text = CASES.outcome(
        OTHERS,
        {
            "waiting_for": "cluster-policy",
            "nodes": {"n0": {"status": {"conditions": {0: {"status": "False"}}}}, "n1": {}},
            "pods": {"gpu-operator/driver-x": {"status": {"containerStatuses": [crashed]}}},
            "policies": {"ClusterPolicy": {"status": {"state": "notReady"}}},
        },
    )
    assert f"pod gpu-operator/driver-x on n0, container driver: CrashLoopBackOff {crash.message}" in text
    assert "gpuDriver aks or operator" in text
    assert "node n0 is not Ready" in text


@pytest.mark.parametrize(
    "silence",
    [
        "dial tcp: lookup management.azure.com: no such host",
        "dial tcp 20.0.0.1:443: i/o timeout",
        "read tcp 10.0.0.4:50412->20.0.0.1:443: read: connection reset by peer",
        "http2: client connection lost",
        "net/http: TLS handshake timeout",
    ],
)
def test_a_network_that_is_gone_as_after_a_sleep_is_named_for_azure(silence: str) -> None:
    [finding] = azure_findings(f'Put "https://management.azure.com/subscriptions/x": {silence}', {})
    assert "this machine lost its way to Azure, as after a sleep" in str(finding.cause)
    assert finding.command == "pulumi up, which goes on from there"


def test_an_answer_of_azures_that_speaks_of_an_interconnect_group_gets_the_way_round() -> None:
    [finding] = azure_findings("BadRequest: the size can only be deployed with an interconnectGroup", {})
    assert "existingCluster" in str(finding.cause)


@pytest.mark.parametrize(
    ("waiting_for", "namespace"),
    [
        ("nic-node-policy", ""),
        ("ipoib-network", ""),
        ("ip-pool", "network-operator"),
        ("daemon-set", "network-operator"),
    ],
)
def test_only_what_lies_in_a_namespace_is_looked_for_in_one(waiting_for: Any, namespace: Any) -> None:
    inputs = {"metadata": {"name": "x", "namespace": "network-operator"}}
    args = ErrorHookArgs(
        urn="urn", id="", name="x", type="t", new_inputs=inputs, old_inputs=None, old_outputs=None,
        failed_operation="create", errors=["timed out"],
    )  # fmt: skip
    assert wait_of(args, waiting_for).namespace == namespace
