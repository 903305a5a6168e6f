"""AKS owns the GPU driver, and every image comes from a mirror that requires a login. The tests follow one another."""

from typing import Any

import pytest
import yaml
from lightkube import ApiError
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.authorization_v1 import SubjectAccessReview
from lightkube.resources.core_v1 import Pod, Secret, ServiceAccount
from lightkube.resources.rbac_authorization_v1 import RoleBinding

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.waiting import eventually

from .conftest import Stack

pytestmark = pytest.mark.long

STACK = "dev"
MIRROR = "mirror.example.com/aks"
SYSTEM, WORKLOADS = "aks-infiniband-system", "aks-infiniband"
OURS = ("network-operator", "gpu-operator", SYSTEM)


@pytest.fixture(scope="module", autouse=True)
def changed(stack: Stack) -> None:
    pool = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "gpuDriver": "aks"}
    stack.settings(pools=[pool], registry={"images": MIRROR})
    document = yaml.safe_load(stack.file.read_text())
    document["config"]["aks-infiniband:registryCredentials"] = {"secure": "v1:only-the-real-engine-can-read-it"}
    stack.file.write_text(yaml.safe_dump(document))


def pod_specs(stack: Stack) -> list[dict[str, Any]]:
    """Specs of everything that the program, the charts and the operators run."""
    client = stack.cluster()
    found: list[dict[str, Any]] = []
    for namespace in OURS:
        found += [
            daemon_set.to_dict()["spec"]["template"]["spec"]
            for daemon_set in client.list(DaemonSet, namespace=namespace)
        ]
        found += [
            deployment.to_dict()["spec"]["template"]["spec"]
            for deployment in client.list(Deployment, namespace=namespace)
        ]
        found += [pod.to_dict()["spec"] for pod in client.list(Pod, namespace=namespace)]
    return found


@pytest.mark.field_report("A4", "B3")
def test_azures_own_gpu_driver_is_left_in_place_and_gpudirect_is_switched_on(stack: Stack, brought_up: Outcome) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool="ndh100")]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    sets = {
        daemon_set.to_dict()["metadata"]["name"]
        for daemon_set in stack.cluster().list(DaemonSet, namespace="gpu-operator")
    }
    assert "nvidia-device-plugin-daemonset" in sets
    assert not sets & {"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"}
    ours = {
        daemon_set.to_dict()["metadata"]["name"] for daemon_set in stack.cluster().list(DaemonSet, namespace=SYSTEM)
    }
    assert [name for name in ours if "peermem" in name]
    assert stack.verdicts() == {"ndh100": "pass"}, "by DMA-BUF: the module of the node image is empty"


@pytest.mark.field_report("C11")
def test_every_image_comes_from_the_mirror_with_its_secret(stack: Stack, brought_up: Outcome) -> None:
    specs = pod_specs(stack)
    images = {
        container["image"] for spec in specs for container in (*spec["containers"], *spec.get("initContainers", []))
    }
    assert len(images) > 8
    assert [image for image in images if not image.startswith(f"{MIRROR}/")] == []
    lacking = [
        [container["image"] for container in spec["containers"]]
        for spec in specs
        if {"name": "aks-infiniband-registry"} not in spec.get("imagePullSecrets", [])
    ]
    assert lacking == []


BEYOND = [
    *((verb, "", "secrets", place) for verb in ("get", "list", "watch") for place in OURS),
    *(("create", "", resource, place) for resource in ("pods", "pods/exec", "serviceaccounts/token") for place in OURS),
    *((verb, "", "configmaps", SYSTEM) for verb in ("get", "update", "patch", "delete")),
    *((verb, "batch", "jobs", SYSTEM) for verb in ("create", "patch", "delete")),
    *((verb, "apps", "daemonsets", SYSTEM) for verb in ("create", "patch")),
    *((verb, "rbac.authorization.k8s.io", "rolebindings", SYSTEM) for verb in ("create", "patch")),
    *(("impersonate", "", "serviceaccounts", place) for place in OURS),
    *((verb, "", "namespaces", WORKLOADS) for verb in ("update", "patch", "delete")),
    *((verb, "admissionregistration.k8s.io", "validatingadmissionpolicies", "") for verb in ("patch", "delete")),
    *((verb, "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "") for verb in ("patch", "delete")),
    ("create", "rbac.authorization.k8s.io", "clusterrolebindings", ""),
    ("create", "", "pods/exec", "kube-system"),
    # A network's configuration names programs that Multus runs as the machine's root.
    ("create", "k8s.cni.cncf.io", "network-attachment-definitions", WORKLOADS),
    ("patch", "", "nodes", ""),
]
"""Rights that would lead to a Secret of ours, a privileged pod or a forged verdict: verb, group, resource,
namespace.
"""


@pytest.mark.parametrize("role", ["view", "edit", "admin"])
def test_a_role_where_workloads_run_leads_to_nothing_that_is_ours(stack: Stack, brought_up: Outcome, role: str) -> None:
    client, user = stack.cluster(), f"the-{role}"
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    binding: Any = {
        "metadata": {"name": user, "namespace": WORKLOADS},
        "roleRef": reference,
        "subjects": [{"apiGroup": reference["apiGroup"], "kind": "User", "name": user}],
    }
    bound: Any = RoleBinding.from_dict(binding)
    client.create(bound)

    def may(verb: str, group: str, resource: str, namespace: str) -> bool:
        name, _, subresource = resource.partition("/")
        wanted = {"verb": verb, "group": group, "resource": name, "subresource": subresource, "namespace": namespace}
        review: Any = SubjectAccessReview.from_dict({"spec": {"user": user, "resourceAttributes": wanted}})
        answered = client.create(review)
        return bool(answered.status and answered.status.allowed)

    eventually(lambda: may("get", "", "pods", WORKLOADS))
    assert may("create", "", "pods", WORKLOADS) == (role != "view")
    assert [question for question in BEYOND if may(*question)] == []


def test_there_is_no_secret_and_no_account_of_ours_where_workloads_run(stack: Stack, brought_up: Outcome) -> None:
    client = stack.cluster()
    assert list(client.list(Secret, namespace=WORKLOADS)) == []
    assert [
        account.metadata.name for account in client.list(ServiceAccount, namespace=WORKLOADS) if account.metadata
    ] == ["default"]


def test_the_account_of_a_finished_validation_may_do_nothing_but_meet_and_report(
    stack: Stack, brought_up: Outcome
) -> None:
    """Its Job has ended, and with its pods their tokens; this is the power of a thief who had one."""
    client, user = stack.cluster(), f"system:serviceaccount:{SYSTEM}:validation"

    def may(**wanted: str) -> bool:
        review: Any = SubjectAccessReview.from_dict({"spec": {"user": user, "resourceAttributes": wanted}})
        answered = client.create(review)
        return bool(answered.status and answered.status.allowed)

    assert may(verb="patch", resource="configmaps", name="ndh100-validation-report", namespace=SYSTEM)
    assert may(verb="list", resource="nodes")
    for verb in ("get", "list", "create", "update", "patch", "delete"):
        assert not may(verb=verb, resource="secrets", namespace=SYSTEM)
        assert not may(verb=verb, resource="pods", namespace=SYSTEM)
        assert not may(verb=verb, resource="configmaps", name="validation", namespace=SYSTEM)
        assert not may(verb=verb, group="batch", resource="jobs", namespace=SYSTEM)
    pods = [pod.to_dict() for pod in client.list(Pod, namespace=SYSTEM)]
    ended = [pod for pod in pods if "validation" in pod["metadata"]["labels"].values()]
    assert {pod["status"]["phase"] for pod in ended} == {"Succeeded"}


def test_of_ours_only_the_loader_that_loads_again_stays_privileged(stack: Stack, brought_up: Outcome) -> None:
    assert set(stack.privileged()) == {("nvidia-peermem", "running"), ("nvidia-toolkit-hardening", "terminated")}


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("privileged containers", {"containers": [{"securityContext": {"privileged": True}}]}),
    ("privileged containers", {"initContainers": [{"securityContext": {"privileged": True}}], "containers": [{}]}),
    ("capabilities", {"containers": [{"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]}),
    ("capabilities", {"containers": [{"securityContext": {"capabilities": {"add": ["ALL"]}}}]}),
    ("the machine's namespaces", {"hostPID": True, "containers": [{}]}),
    ("the machine's namespaces", {"hostNetwork": True, "containers": [{}]}),
    ("host paths", {"volumes": [{"name": "root", "hostPath": {"path": "/"}}], "containers": [{}]}),
    ("host ports", {"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}),
    ("probes and lifecycle hooks", {"containers": [{"livenessProbe": {"httpGet": {"host": "other", "port": 80}}}]}),
    (
        "probes and lifecycle hooks",
        {"containers": [{"lifecycle": {"preStop": {"tcpSocket": {"host": "other", "port": 80}}}}]},
    ),
    ("unconfined seccomp", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}, "containers": [{}]}),
    ("unsafe sysctls", {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}, "containers": [{}]}),
]


def try_pod(stack: Stack, spec: dict[str, Any]) -> None:
    """Try to create a pod in a namespace of workloads, as its administrator, without making it."""
    named = {
        kind: [
            {"name": f"{kind}-{number}".lower(), "image": "x", **container}
            for number, container in enumerate(spec[kind])
        ]
        for kind in ("initContainers", "containers")
        if kind in spec
    }
    pod: Any = Pod.from_dict({"metadata": {"name": "tried", "namespace": WORKLOADS}, "spec": {**spec, **named}})
    stack.cluster().create(pod, dry_run=True)


@pytest.mark.parametrize(("what", "spec"), REFUSED)
def test_a_pod_that_reaches_for_the_machine_is_refused_where_workloads_run(
    stack: Stack, brought_up: Outcome, what: str, spec: dict[str, Any]
) -> None:
    with pytest.raises(ApiError, match=f"a namespace of RDMA workloads refuses {what}"):
        try_pod(stack, spec)


def test_a_container_that_is_added_later_is_refused_as_well(stack: Stack, brought_up: Outcome) -> None:
    """By `kubectl debug`, which the roles `edit` and `admin` allow."""
    client = stack.cluster()
    waiting = {"schedulingGates": [{"name": "example.com/never"}], "containers": [{"name": "main", "image": "x"}]}
    pod: Any = Pod.from_dict({"metadata": {"name": "waiting", "namespace": WORKLOADS}, "spec": waiting})
    client.create(pod)
    debugger = {"name": "debugger", "image": "x", "securityContext": {"privileged": True}}
    added: Any = {"spec": {"ephemeralContainers": [debugger]}}
    with pytest.raises(ApiError, match="a namespace of RDMA workloads refuses privileged containers"):
        client.patch(Pod.Ephemeralcontainers, "waiting", added, namespace=WORKLOADS)
    del debugger["securityContext"]
    client.patch(Pod.Ephemeralcontainers, "waiting", added, namespace=WORKLOADS)
    client.delete(Pod, "waiting", namespace=WORKLOADS)


def test_a_pod_that_locks_memory_for_rdma_is_admitted_where_workloads_run(stack: Stack, brought_up: Outcome) -> None:
    template = stack.workload("ndh100")["podTemplate"]["spec"]
    assert template["containers"][0]["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    try_pod(stack, template)


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}
