"""The stand-in compute-domain controller makes and takes away what the real one does."""

from typing import Any

from rehearsal.operators.compute_domains import LABEL, reconcile
from rehearsal.operators.plan import Snapshot

CONTROLLER: dict[str, Any] = {
    "kind": "Deployment",
    "metadata": {"name": "dra-driver-nvidia-gpu-controller", "namespace": "dra-driver-nvidia-gpu", "generation": 1},
    "spec": {
        "selector": {"matchLabels": {"dra-driver-nvidia-gpu-component": "controller"}},
        "template": {"spec": {"containers": [{"image": "registry.k8s.io/dra:v0.4.1"}]}},
    },
    "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]},
}
DOMAIN: dict[str, Any] = {
    "kind": "ComputeDomain",
    "metadata": {"name": "nvlink-gb300", "namespace": "jobs", "uid": "u1"},
    "spec": {
        "numNodes": 0,
        "channel": {"allocationMode": "Single", "resourceClaimTemplate": {"name": "nvlink-gb300"}},
    },
}


def clique(**statuses: str) -> dict[str, Any]:
    daemons = [
        {"nodeName": name, "ipAddress": "10.0.0.1", "cliqueID": "c.1", "index": number, "status": status}
        for number, (name, status) in enumerate(statuses.items())
    ]
    metadata = {"name": "u1.c.1", "namespace": "dra-driver-nvidia-gpu", "labels": {LABEL: "u1"}}
    return {"kind": "ComputeDomainClique", "metadata": metadata, "daemons": daemons}


def seen(**kinds: list[Any]) -> Snapshot:
    return Snapshot({"Deployment": [CONTROLLER], "ComputeDomain": [DOMAIN], **kinds})


def test_a_compute_domain_gets_its_claim_template_where_it_is_and_its_daemons_where_the_driver_is() -> None:
    plan = reconcile(seen(), now="")
    made = {(item["kind"], item["metadata"]["name"]): item for item in plan.objects}
    template = made["ResourceClaimTemplate", "nvlink-gb300"]
    assert template["metadata"]["namespace"] == "jobs"
    devices = template["spec"]["spec"]["devices"]
    assert devices["requests"][0]["exactly"] == {"deviceClassName": "compute-domain-default-channel.nvidia.com"}
    assert devices["config"][0]["opaque"]["parameters"]["domainID"] == "u1"
    daemons = made["DaemonSet", "computedomain-daemon-u1"]
    assert daemons["metadata"]["namespace"] == "dra-driver-nvidia-gpu"
    assert daemons["spec"]["template"]["spec"]["nodeSelector"] == {LABEL: "u1"}
    assert plan.finalizers == [(DOMAIN, [LABEL])]


def test_nothing_happens_while_the_controller_is_not_available() -> None:
    waiting = CONTROLLER | {"status": {}}
    assert not reconcile(seen(Deployment=[waiting]), now="").objects


def test_it_is_ready_when_every_daemon_that_is_there_is() -> None:
    for statuses, status in (({"a": "Ready", "b": "Ready"}, "Ready"), ({"a": "Ready", "b": "NotReady"}, "NotReady")):
        ((_, found),) = reconcile(seen(ComputeDomainClique=[clique(**statuses)]), now="").statuses
        assert found["status"] == status
        assert [node["name"] for node in found["nodes"]] == ["a", "b"]


def test_what_it_made_goes_before_it_goes_itself() -> None:
    ending = {**DOMAIN, "metadata": {**DOMAIN["metadata"], "deletionTimestamp": "now", "finalizers": [LABEL]}}
    node = {"kind": "Node", "metadata": {"name": "a", "labels": {LABEL: "u1"}}}
    made = {"kind": "DaemonSet", "metadata": {"name": "d", "namespace": "x", "labels": {LABEL: "u1"}}}
    first = reconcile(seen(ComputeDomain=[ending], DaemonSet=[made], Node=[node]), now="")
    assert (first.deletions, first.finalizers) == ([made], [])
    assert first.node_labels == {"a": {LABEL: None}}
    assert reconcile(seen(ComputeDomain=[ending]), now="").finalizers == [(ending, [])]
