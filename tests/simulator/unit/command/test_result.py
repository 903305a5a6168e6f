"""`result.json`: what a rehearsal came to, for other programs."""

import base64
import gzip
import json
from typing import Any

from rehearsal.engine.events import Step
from rehearsal.outcome.reports import Known, reports_of
from rehearsal.outcome.result import result

URN = "urn:pulumi:dev::aks-infiniband::aks-infiniband:index:RdmaCluster$kubernetes:core/v1:Namespace::operators"
SUMMARY = {"verdict": "pass", "coverage": "2 of 2 nodes", "finished": "2026-11-28T09:00:00+00:00"}
OUTPUTS = {
    "clusterName": "rdma",
    "kubeconfig": "[secret]",
    "pools": {"ndh100": {"vmSize": "Standard_ND96isr_H100_v5", "validation": SUMMARY}},
}

REPORTS = {"ndh100": {"pool": "ndh100", "verdict": "pass", "nodes": {}}}
KNOWN = Known(measured=REPORTS, before={"hbv4": {"verdict": "pass"}})


def test_the_report_of_a_pool_is_the_whole_one_that_the_state_has_and_without_one_what_the_outputs_say() -> None:
    packed = base64.b64encode(gzip.compress(json.dumps(REPORTS["ndh100"]).encode())).decode()
    keeper = {"type": "pulumi:index:Stash", "outputs": {"output": packed}}
    others: list[Any] = [{"type": "kubernetes:core/v1:Secret", "outputs": {}}, {"type": "pulumi:index:Stash"}]
    assert reports_of(OUTPUTS, {"resources": [*others, keeper]}) == REPORTS
    assert reports_of(OUTPUTS, {"resources": others}) == {
        "ndh100": {**SUMMARY, "coverage": {"summary": "2 of 2 nodes"}, "checks": []}
    }
    assert reports_of({}, {}) == {}


def test_a_resource_has_its_urn_its_own_type_its_times_from_the_beginning_and_what_was_done() -> None:
    created = Step(urn=URN, operation="create", begun=101.0, ended=103.5, custom=True)
    document = result(
        stack="dev", status="succeeded", begun=100.0, ended=110.25, steps=[created], outputs=OUTPUTS, known=KNOWN
    )
    assert document["resources"] == [
        {"urn": URN, "type": "kubernetes:core/v1:Namespace", "start_s": 1.0, "end_s": 3.5, "status": "create"}
    ]
    assert (document["stack"], document["status"], document["makespan_s"]) == ("dev", "succeeded", 10.25)
    assert document["validation"] == REPORTS
    assert document["validated_before"] == {"hbv4": {"verdict": "pass"}}, "an earlier update's is not this one's"


def test_secret_outputs_are_left_out() -> None:
    document = result(stack="dev", status="succeeded", begun=0.0, ended=1.0, steps=[], outputs=OUTPUTS, known=KNOWN)
    assert set(document["outputs"]) == {"clusterName", "pools"}
    assert "secret" not in json.dumps(document)


def test_what_failed_says_so_and_has_no_validation() -> None:
    failed = Step(urn=URN, operation="create", begun=0.0, ended=1.0, custom=True, failed=True)
    document = result(stack="dev", status="failed", begun=0.0, ended=1.0, steps=[failed], outputs={}, known=Known())
    assert document["resources"][0]["status"] == "failed"
    assert document["validation"] == {}
