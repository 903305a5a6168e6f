"""The obstacles to drivers and validations in the field happen here, and the diagnosis names node and cause."""

from collections.abc import Iterator
from typing import Any

import pytest
from aks_infiniband.diagnosis.collect import collect
from aks_infiniband.diagnosis.diagnose import diagnose, render
from aks_infiniband.diagnosis.view import Wait, WaitingFor
from lightkube import ApiError, codecs
from lightkube.resources.admissionregistration_v1 import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from lightkube.resources.core_v1 import Node, Pod

from rehearsal.azure.machines import node, node_name
from tests.rehearsal.simulated_nodes import GPU_NODES, H100, pool_facts

from .conftest import Rehearsed

OFED = {"app.kubernetes.io/name": "mofed", "nvidia.com/ofed-driver": ""}


def said(cluster: Rehearsed, waiting_for: WaitingFor = "daemon-set", name: str = "mofed") -> str:
    """A person's text when a wait for an object of the test's namespace fails now."""
    view = collect(cluster.control_plane.kubeconfig.read_text(), [cluster.namespace], limit_seconds=60)
    wait = Wait(waiting_for=waiting_for, name=name, namespace=cluster.namespace)
    return render(wait, diagnose(wait, view, []), view.unread)


def told(cluster: Rehearsed, *words: str, waiting_for: WaitingFor = "daemon-set", name: str = "mofed") -> str:
    """A person's text when such a wait fails, once all these words stand in it."""

    def whole() -> str | None:
        text = said(cluster, waiting_for, name)
        return text if all(word in text for word in words) else None

    return str(cluster.eventually(whole))


def are_ready(cluster: Rehearsed, nodes: tuple[str, ...] = GPU_NODES) -> bool:
    conditions = [
        (pod["spec"]["nodeName"], condition["type"], condition["status"])
        for pod in cluster.pods(**OFED)
        for condition in pod.get("status", {}).get("conditions", [])
    ]
    return {(name, "Ready", "True") for name in nodes} <= set(conditions)


def test_a_driver_that_comes_up_on_one_node_of_two_is_named_with_that_node_and_what_its_log_means(
    cluster: Rehearsed,
) -> None:
    good, bad = GPU_NODES
    message = "Failed loading kernel module mlx5_ib"
    cluster.fault("crash", pod="mofed-*", node=bad, message=message)
    cluster.daemon_set("mofed", OFED)
    text = told(cluster, "1 of 2 ready", f"on {bad}, container main: CrashLoopBackOff {message}")
    assert "set OFED_BLACKLIST_MODULES_FILE" in text
    assert f"on {good}" not in text
    cluster.mend()
    cluster.eventually(lambda: are_ready(cluster))


def test_a_pull_that_a_registry_refuses_is_told_in_the_registrys_words_and_goes_on_once_it_is_mended(
    cluster: Rehearsed,
) -> None:
    cluster.fault("image-pull", pod="mofed-*", node=GPU_NODES[0], answer="unauthorized")
    cluster.daemon_set("mofed", OFED)
    why = 'ImagePullBackOff Back-off pulling image "registry.invalid/main": ErrImagePull'
    text = told(cluster, "401 Unauthorized", why)
    assert "pulumi config set --secret aks-infiniband:registryCredentials" in text
    cluster.mend()
    cluster.eventually(lambda: are_ready(cluster))


def test_a_job_waits_for_its_image_as_well(cluster: Rehearsed) -> None:
    cluster.fault("image-pull", pod="pulls-*", answer="not-found")
    cluster.job("pulls", {"command": ["python3", "-c", ""]}, nodeSelector={"kubernetes.io/hostname": GPU_NODES[0]})
    text = told(cluster, "ImagePullBackOff", waiting_for="job", name="pulls")
    assert "does registry.images mirror it?" in text
    cluster.mend()
    cluster.eventually(lambda: cluster.pods()[0]["status"]["phase"] == "Succeeded")


def without_privileges(namespace: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A policy that refuses privileged pods in a namespace, as a cluster's owner would set it."""
    name, group = f"no-privileges-{namespace}", "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    selector = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    expression = "!object.spec.containers.exists(c, c.?securityContext.?privileged.orValue(false))"
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"namespaceSelector": selector, "resourceRules": [rule]},
            "validations": [{"expression": expression, "message": "privileged containers are not allowed"}],
        },
    }
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return policy, binding


@pytest.fixture
def policy(cluster: Rehearsed) -> Iterator[None]:
    """In force."""
    documents = without_privileges(cluster.namespace)
    for document in documents:
        cluster.client.create(codecs.from_dict(document))
    container = {"name": "main", "image": "registry.invalid/main", "securityContext": {"privileged": True}}
    probe = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [container]}}

    def refused() -> bool:
        try:
            cluster.create(probe)
        except ApiError as error:
            return "denied request" in str(error)
        cluster.client.delete(Pod, "probe", namespace=cluster.namespace, grace_period=0)
        return False

    cluster.eventually(refused)
    yield
    cluster.client.delete(ValidatingAdmissionPolicyBinding, documents[1]["metadata"]["name"])
    cluster.client.delete(ValidatingAdmissionPolicy, documents[0]["metadata"]["name"])


@pytest.mark.usefixtures("policy")
def test_a_policy_that_refuses_privileged_pods_is_quoted_and_the_namespaces_to_exempt_are_named(
    cluster: Rehearsed,
) -> None:
    container = {"name": "main", "image": "registry.invalid/main", "securityContext": {"privileged": True}}
    cluster.daemon_set("mofed", OFED, containers=[container])
    text = told(cluster, "denied request", "/mofed: 0 of 2 ready; Error creating: ")
    assert "DaemonSet " in text
    assert "privileged containers are not allowed" in text
    assert "exempt the namespaces network-operator, gpu-operator and aks-infiniband-system" in text


def test_the_operators_driver_beside_azures_own_takes_the_node_down_and_both_settings_are_named(
    cluster: Rehearsed,
) -> None:
    pool = pool_facts("both", H100, gpu_driver="Install")
    name = node_name(pool, 0)
    cluster.client.create(codecs.from_dict(node(pool, 0, 7)))
    labels = {"app": "nvidia-driver-daemonset", "app.kubernetes.io/name": "driver"}
    try:
        cluster.daemon_set("driver", labels, nodeSelector={"agentpool": "both"})
        crash = "Could not unload NVIDIA driver kernel modules"
        text = told(cluster, f"node {name} is not Ready", crash, name="driver")
        conditions = {condition["type"] for condition in cluster.node(name)["status"]["conditions"]}
    finally:
        cluster.clear()
        cluster.client.delete(Node, name)
    assert "the pool's gpuDriver aks or operator" in text
    assert "IBLinkFlapping" in conditions, "AKS's own checks, beside the kubelet's"


@pytest.mark.field_report("R7")
def test_the_driver_image_of_another_nodes_ubuntu_crashes_and_the_message_says_why(cluster: Rehearsed) -> None:
    pool = pool_facts("older", H100, os_sku="Ubuntu2204")
    name = node_name(pool, 0)
    cluster.client.create(codecs.from_dict(node(pool, 0, 8)))
    labels = {"app": "nvidia-driver-daemonset", "app.kubernetes.io/name": "driver"}
    container = {"name": "nvidia-driver-ctr", "image": "registry.invalid/driver:580.126.20-ubuntu24.04"}
    try:
        cluster.daemon_set("driver", labels, nodeSelector={"agentpool": "older"}, containers=[container])
        text = told(cluster, f"on {name}, container nvidia-driver-ctr: CrashLoopBackOff", "nvidia.ko", name="driver")
    finally:
        cluster.clear()
        cluster.client.delete(Node, name)
    assert "the driver image of one node's system" in text
    assert "is not Ready" not in text, "the node itself is sound"


def test_a_machine_that_is_lost_while_a_job_runs_on_it_is_named_and_comes_back_once_it_is_mended(
    cluster: Rehearsed, own_machine: str
) -> None:
    cluster.fault("lost", node=own_machine)
    cluster.job("measures", {"command": ["python3", "-c", ""]}, nodeSelector={"kubernetes.io/hostname": own_machine})
    lost = f"node {own_machine} is not Ready (NodeStatusUnknown: Kubelet stopped posting node status.)"
    text = told(cluster, lost, waiting_for="job", name="measures")
    assert f"kubectl describe node {own_machine}" in text
    cluster.mend()
    cluster.eventually(lambda: cluster.pods()[0]["status"]["phase"] == "Succeeded")
    cluster.eventually(lambda: f"node {own_machine} is not Ready" not in said(cluster, "job", "measures"))


def test_two_feature_discoveries_are_named_when_the_operator_is_waited_for(cluster: Rehearsed) -> None:
    for operator in ("network-operator", "gpu-operator"):
        name = f"{operator}-node-feature-discovery-worker"
        cluster.daemon_set(
            name, {"app.kubernetes.io/name": "node-feature-discovery", "app.kubernetes.io/instance": name}
        )
    text = said(cluster, "nic-cluster-policy", "nic-cluster-policy")
    assert "2 node feature discoveries run: " in text
    assert "keep one, and set nfd.enabled=false in the others" in text
