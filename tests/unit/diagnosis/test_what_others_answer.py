"""Words of registries, policies, logins and node images: each gets a cause and a next command."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.azure import azure_findings
from aks_infiniband.diagnosis.view import View, Wait

from rehearsal.machines.pods.behaviours import behaviours
from tests.unit.diagnosis.views import HEALTHY, JOB, NIC_POLICY, bare, daemon_set, job, node, pod, policy, said

SPACE = "aks-infiniband"
NAMESPACE = Wait(waiting_for="namespace", name="network-operator")
RELEASE = Wait(waiting_for="release", name="network-operator", namespace="network-operator")
GATEKEEPER = (
    'Error creating: admission webhook "validation.gatekeeper.sh" denied the request: '
    "[azurepolicy-k8sazurev2noprivilege-da2c940f21133e02a3d1] Privileged container is not allowed: mofed-container"
)
POD_SECURITY = (
    'Error creating: pods "mofed-x" is forbidden: violates PodSecurity "baseline:latest": privileged (container '
    '"mofed-container" must not set securityContext.privileged=true)'
)


def failed_create(message: str, kind: str, name: str, namespace: str, at: str = "2026-11-22T10:00:00Z") -> Any:
    about = {"kind": kind, "namespace": namespace, "name": name}
    metadata = {"name": f"{name}.{at}", "namespace": namespace}
    return {
        "metadata": metadata, "involvedObject": about, "reason": "FailedCreate", "message": message, "lastTimestamp": at
    }  # fmt: skip


@pytest.mark.parametrize(
    ("message", "cause"),
    [(GATEKEEPER, "exempt the namespaces network-operator"), (POD_SECURITY, "enforce=privileged")],
)
def test_a_daemon_set_whose_pods_a_policy_refuses_shows_the_policys_last_word(message: str, cause: str) -> None:
    events = [
        failed_create("an earlier word", "DaemonSet", "mofed-ds", "network-operator", "2026-11-22T09:00:00Z"),
        failed_create(message, "DaemonSet", "mofed-ds", "network-operator"),
        failed_create("of another", "DaemonSet", "other-ds", "network-operator", "2026-11-22T11:00:00Z"),
    ]
    refused = daemon_set("mofed-ds", ready=0)
    view = View(nodes=HEALTHY, daemon_sets=[refused], policies=[policy(state="notReady")], events=events)
    text = said(NIC_POLICY, view)
    assert f"DaemonSet network-operator/mofed-ds: 0 of 2 ready; {message}" in text
    assert cause in text
    assert "next: kubectl -n network-operator describe daemonset mofed-ds" in text


def test_what_was_refused_once_is_not_said_of_a_daemon_set_that_has_its_pods() -> None:
    unready = daemon_set("mofed-ds", ready=1)
    unready["status"]["currentNumberScheduled"] = 2
    events = [failed_create(GATEKEEPER, "DaemonSet", "mofed-ds", "network-operator")]
    view = View(nodes=HEALTHY, daemon_sets=[unready], policies=[policy(state="notReady")], events=events)
    assert "gatekeeper" not in said(NIC_POLICY, view)


@pytest.mark.parametrize("status", [{}, {"conditions": [{"type": "Failed", "status": "True", "reason": "r"}]}])
def test_a_validation_whose_pods_a_policy_refuses_says_so(status: Any) -> None:
    refused = job(**status)
    refused["spec"] = {"template": {"spec": {"containers": []}}}
    view = View(
        nodes=HEALTHY, jobs=[refused], events=[failed_create(GATEKEEPER, "Job", "validate-1", "aks-infiniband")]
    )
    text = said(JOB, view)
    assert f"Job aks-infiniband/validate-1 has no pod: {GATEKEEPER}" in text
    assert "exempt the namespaces" in text


PULL = 'failed to pull and unpack image "nvcr.io/nvidia/x:1": failed to resolve reference "nvcr.io/nvidia/x:1": '


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (
            "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
            "registryCredent",
        ),
        (
            "failed to authorize: … unexpected status from GET request to https://…/token: 403 Forbidden",
            "registryCredent",
        ),
        ("pull access denied, … server message: insufficient_scope: authorization failed", "registryCredentials"),
        ("unexpected status code …: 429 Too Many Requests - Server message: toomanyrequests: …", "mirror the images"),
        ("nvcr.io/nvidia/x:1: not found", "does registry.images mirror it?"),
        ("dial tcp: lookup nvcr.io: no such host", "its registry cannot be reached from the node: a firewall"),
    ],
)
def test_a_pull_that_fails_gets_the_cause_that_the_registrys_words_name(answer: str, cause: str) -> None:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": f'Back-off pulling image "x": {PULL}{answer}'}}
    waiting = pod("mofed-x", "network-operator", phase="Pending", containerStatuses=[{"name": "c", "state": state}])
    text = said(NIC_POLICY, View(nodes=HEALTHY, pods=[waiting], policies=[policy(state="notReady")]))
    assert answer in text
    assert cause in text
    assert "next: kubectl -n network-operator" in text


@pytest.mark.parametrize("row", ["gpuDriver", "ofedDriver"])
def test_a_driver_beside_the_node_images_own_names_both_settings(row: str) -> None:
    """In the words with which a rehearsal's driver pod ends there, and its node with it."""
    (crash,) = [crash for crash in behaviours()[row].crashes if crash.breaks_node]
    ended = {"terminated": {"exitCode": 1, "message": crash.message}}
    crashed = {"name": "driver", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    view = View(
        nodes=[node("n0", ready="False"), node("n1")],
        pods=[pod("driver-x", "gpu-operator", containerStatuses=[crashed])],
        policies=[policy("ClusterPolicy", state="notReady")],
    )
    text = said(Wait(waiting_for="cluster-policy", name="cluster-policy"), view)
    assert f"pod gpu-operator/driver-x on n0, container driver: CrashLoopBackOff {crash.message}" in text
    assert "gpuDriver aks or operator" in text
    assert "node n0 is not Ready" in text


def test_a_field_that_somebody_changed_by_hand_comes_with_the_way_to_take_it_back() -> None:
    answer = 'Apply failed with 1 conflict: conflict with "kubectl-patch" using mellanox.com/v1alpha1: .spec.version'
    text = said(
        Wait(waiting_for="nic-cluster-policy", name="nic-cluster-policy", errors=(answer,)), View(nodes=HEALTHY)
    )
    assert "a person changed these fields by hand" in text
    assert "PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi up" in text


PLUGIN_FAILED = "ConfigError: Exec kubelogin returned 1: Error: failed to get token: AADSTS70043: The refresh token"


@pytest.mark.parametrize("wait", [NAMESPACE, RELEASE, JOB, NIC_POLICY], ids=lambda wait: wait.waiting_for)
@pytest.mark.parametrize(
    ("answer", "unread"),
    [
        ("the server has asked for the client to provide credentials", "nodes: 401 Unauthorized"),
        ('Get "https://c": getting credentials: exec: executable kubelogin failed with exit code 1', "nodes: gone"),
        ("timed out waiting to be Ready", f"nodes: {PLUGIN_FAILED}"),
    ],
)
def test_a_login_that_expired_during_the_update_is_named_whatever_was_waited_for(
    wait: Wait, answer: str, unread: str
) -> None:
    expired = Wait(waiting_for=wait.waiting_for, name=wait.name, namespace=wait.namespace, errors=(answer,))
    text = said(expired, View(nodes=[bare("n0")], unread=[unread]))
    assert "the login of this run has expired" in text
    assert "az login" in text


@pytest.mark.parametrize(
    "silence",
    [
        "dial tcp: lookup {host}: no such host",
        "dial tcp 20.0.0.1:443: i/o timeout",
        "read tcp 10.0.0.4:50412->20.0.0.1:443: read: connection reset by peer",
        "http2: client connection lost",
        "net/http: TLS handshake timeout",
    ],
)
def test_a_network_that_is_gone_as_after_a_sleep_is_named_for_azure_and_for_the_cluster(silence: str) -> None:
    cluster, azure = "aks-1.hcp.eastus.azmk8s.io", "management.azure.com"
    answer = f'Get "https://{cluster}:443/api/v1": {silence.format(host=cluster)}'
    text = said(Wait(waiting_for="job", name="j", namespace="n", errors=(answer,)), View(nodes=HEALTHY))
    assert "this machine lost its way to the API server, as after a sleep" in text
    [finding] = azure_findings(f'Put "https://{azure}/subscriptions/x": {silence.format(host=azure)}', {})
    assert "this machine lost its way to Azure, as after a sleep" in str(finding.cause)
    assert finding.command == "pulumi up, which goes on from there"


def test_a_chart_repository_that_is_down_is_not_the_clusters_network() -> None:
    answer = 'cannot be reached: Get "https://helm.ngc.nvidia.com/index.yaml": dial tcp: no such host'
    release = Wait(waiting_for="release", name="r", namespace="n", errors=(answer,))
    assert "lost its way" not in said(release, View(nodes=HEALTHY))


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("cannot re-use a name that is still in use", "helm uninstall"),
        ("another operation (install/upgrade/rollback) is in progress", "helm rollback"),
    ],
)
def test_a_release_that_a_killed_engine_left_is_named_with_what_frees_it(answer: str, command: str) -> None:
    text = said(Wait(waiting_for="release", name="discovery", namespace="space", errors=(answer,)), View(nodes=HEALTHY))
    assert "release space/discovery" in text
    assert "killed" in text
    assert [known for known in ("helm uninstall", "helm rollback") if known in text] == [command], (
        "an upgrade that was killed is no reason to take drivers away"
    )


def test_an_answer_of_azures_that_speaks_of_an_interconnect_group_gets_the_way_round() -> None:
    [finding] = azure_findings("BadRequest: the size can only be deployed with an interconnectGroup", {})
    assert "existingCluster" in str(finding.cause)
