"""The stack `ipoib`: CPU machines whose pods get net1, an interface on InfiniBand. The tests follow one another.

In its cluster `aks-infiniband validate` measures again.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from lightkube import codecs
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Node, Pod, Service
from lightkube.resources.rbac_authorization_v1 import Role, RoleBinding
from lightkube.types import CascadeType

from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.waiting import eventually

from .conftest import Stack

STACK = "ipoib"
VALIDATE = (str(Path(sys.executable).with_name("aks-infiniband")), "validate", "--output", "json")
RECORD = "machines"
LIMIT_SECONDS = 300
NAMESPACE = "aks-infiniband"
NetworkAttachmentDefinition = create_namespaced_resource(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)


def test_pods_on_the_pool_join_the_fabrics_network(stack: Stack, brought_up: Outcome) -> None:
    wanted = stack.workload("hbv4")["podTemplate"]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    found = [dict(network) for network in stack.cluster().list(NetworkAttachmentDefinition, namespace="aks-infiniband")]
    assert [item["metadata"]["name"] for item in found] == [wanted.rpartition("/")[2]]
    (network,) = found
    assert json.loads(network["spec"]["config"])["type"] == "ipoib"


@pytest.mark.field_report("B17")
def test_every_pod_of_the_validation_had_an_address_of_its_own_on_net1(stack: Stack, brought_up: Outcome) -> None:
    report = stack.report("hbv4")
    assert report["verdict"] == "pass"
    interfaces = [check for check in report["checks"] if "net1" in json.dumps(check)]
    assert {check["node"] for check in interfaces} >= set(report["nodes"])
    assert {check["verdict"] for check in interfaces} == {"pass"}


def test_machines_without_gpus_get_no_gpu_operator(stack: Stack, brought_up: Outcome) -> None:
    assert not [name for name in brought_up.done if "gpu" in name]
    assert all("nvidia.com/gpu" not in node["status"]["allocatable"] for node in stack.nodes(agentpool="hbv4"))


@pytest.fixture
def tcp_job(stack: Stack, brought_up: Outcome) -> Iterator[str]:
    """The name of the Job that the example for programs over IPoIB makes of this pool."""
    command = [sys.executable, str(PROJECT / "examples/jobs/tcp-over-ipoib/job.py"), "hbv4", NAMESPACE, "ours:1"]
    pools = json.dumps({"hbv4": stack.workload("hbv4")})
    made = subprocess.run(command, input=pools, capture_output=True, check=True, text=True).stdout
    items = json.loads(made)["items"]
    for item in items:
        stack.cluster().create(codecs.from_dict(item))
    (name,) = {item["metadata"]["name"] for item in items}
    yield name
    stack.cluster().delete(Job, name, namespace=NAMESPACE, cascade=CascadeType.FOREGROUND)
    stack.cluster().delete(Service, name, namespace=NAMESPACE)


def test_a_job_of_a_tcp_program_finds_net1_on_every_machine_and_runs_to_its_end(stack: Stack, tcp_job: str) -> None:
    cluster: Any = stack.cluster()
    eventually(lambda: cluster.get(Job, tcp_job, namespace=NAMESPACE).status.succeeded == len(machines(stack)))
    pods = list(cluster.list(Pod, namespace=NAMESPACE, labels={"batch.kubernetes.io/job-name": tcp_job}))
    assert sorted(pod.spec.nodeName for pod in pods) == machines(stack)
    for pod in pods:
        said = cluster.log(pod.metadata.name, namespace=NAMESPACE, container="require-ipoib")
        assert "".join(said).strip() == "IPoIB: the pod has net1."


def system_objects(stack: Stack) -> set[str]:
    """Kind, name and version of all that a validation may make, in our own namespace."""
    kinds: tuple[Any, ...] = (Job, ConfigMap, Role, RoleBinding)
    found = [(kind, item) for kind in kinds for item in stack.cluster().list(kind, namespace=SYSTEM_NAMESPACE)]
    return {
        f"{kind.__name__} {item.metadata.name} {item.metadata.resourceVersion}"
        for kind, item in found
        if item.metadata and item.metadata.name != RECORD
    }


@pytest.fixture
def left_behind(stack: Stack, brought_up: Outcome) -> Iterator[None]:
    """Everything that the command made is gone after it, except the record; the stack's objects are as they were."""
    before = system_objects(stack)
    yield
    eventually(lambda: system_objects(stack) == before)


def command(stack: Stack, *flags: str) -> list[str]:
    return [*VALIDATE, "--kubeconfig", str(stack.rehearsal.run.kubeconfig), *flags]


def validate(stack: Stack, *flags: str, code: int) -> dict[str, Any]:
    """The output of `aks-infiniband validate`, and its exit code."""
    done = subprocess.run(command(stack, *flags), check=False, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr == ""

    document: dict[str, Any] = json.loads(done.stdout)
    return document


def machines(stack: Stack) -> list[str]:
    return sorted(node["metadata"]["name"] for node in stack.nodes(agentpool="hbv4"))


def cordoned(stack: Stack) -> set[str]:
    return {node["metadata"]["name"] for node in stack.nodes() if node["spec"].get("unschedulable")}


@pytest.mark.usefixtures("left_behind")
def test_a_node_that_became_slow_is_named_with_the_figure_that_fell_and_cordoned_until_that_is_undone(
    stack: Stack,
) -> None:
    *sound, slow = machines(stack)
    with stack.broken("slow", node=slow, factor=0.5):
        document = validate(stack, "--pool", "hbv4", "--cordon", code=1)
    found = document["pools"]["hbv4"]
    assert (found["verdict"], found["nodes"], found["left_out"]) == ("fail", [*sound, slow], [])
    assert found["compared_with"]["finished"] == stack.outputs()["pools"]["hbv4"]["validation"]["finished"]
    fallen = {row["figure"]: row["change_percent"] for row in found["compared_with"]["figures"] if row["worse"]}
    assert fallen["rdma-write-bandwidth"] == pytest.approx(-50, abs=5)
    assert "rdma-read-latency" not in fallen
    assert list(document["cordoned"]) == [slow]
    assert "rdma-write-bandwidth" in document["cordoned"][slow]

    stack.cluster().patch(Node, sound[0], {"spec": {"unschedulable": True}})
    try:
        assert cordoned(stack) == {sound[0], slow}
        assert list(validate(stack, "--uncordon", code=0)["uncordoned"]) == [slow]
        assert cordoned(stack) == {sound[0]}, "somebody else has cordoned that"
    finally:
        stack.cluster().patch(Node, sound[0], {"spec": {"unschedulable": None}})


def said(stack: Stack, *words: str, code: int) -> str:
    """The output of a command of ours on the cluster, and its exit code."""
    whole = [VALIDATE[0], *words, "--kubeconfig", str(stack.rehearsal.run.kubeconfig)]
    done = subprocess.run(whole, check=False, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def condition(stack: Stack, node: str) -> tuple[str, str]:
    """Status and message of the light check's condition of a node."""
    (found,) = [each for each in stack.nodes() if each["metadata"]["name"] == node]
    (told,) = [each for each in found["status"]["conditions"] if each["type"] == "InfiniBandHealthy"]
    return told["status"], told["message"]


@pytest.mark.usefixtures("left_behind")
def test_every_command_says_the_same_of_a_machine_that_fell_short(stack: Stack, tmp_path: Path) -> None:
    slow = machines(stack)[-1]
    with stack.broken("slow", node=slow, factor=0.5):
        why = validate(stack, "--cordon", code=1)["cordoned"][slow]
    measured = why.partition(", expected")[0]
    assert measured.startswith("rdma-write-bandwidth (")
    assert condition(stack, slow) == ("False", why)

    ticket = said(stack, "evidence", slow, "--out", str(tmp_path / "evidence.json"), code=0)
    wrong = ticket.partition("What is wrong:")[2].partition("\n\n")[0]
    assert measured in wrong
    assert "cordoned by validate --cordon" in ticket

    found = json.loads(said(stack, "doctor", "--output", "json", code=1))["findings"]
    (finding,) = [each for each in found if each["object"] == f"node {slow}"]
    assert (finding["symptom"], measured in finding["cause"]) == ("node-cordoned", True)
    assert f"aks-infiniband evidence {slow}" in finding["fix"]
    assert f"aks-infiniband replace {slow}" in finding["fix"]

    page = said(stack, "report", "--out", str(tmp_path), code=1)
    assert f"since then: {slow}: validate on" in page
    assert measured in page
    assert measured in (tmp_path / "report.html").read_text(encoding="utf-8")

    validate(stack, "--uncordon", code=0)
    assert condition(stack, slow)[0] == "Unknown"
    validate(stack, code=0)
    assert condition(stack, slow)[0] == "True"
    assert "pass: nothing falls short; let in on" in said(stack, "report", "--out", str(tmp_path), code=0)


@pytest.mark.usefixtures("left_behind")
def test_a_busy_node_is_left_out_and_the_others_are_measured_again(stack: Stack) -> None:
    *free, taken = machines(stack)
    hog = {"name": "hog", "image": "registry.invalid/hog", "resources": {"limits": {"rdma/shared_ib": "1"}}}
    spec = {"nodeName": taken, "containers": [hog]}
    metadata = {"name": "hog", "namespace": "default"}
    stack.cluster().create(codecs.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
    try:
        found = validate(stack, code=0)["pools"]["hbv4"]
    finally:
        stack.cluster().delete(Pod, "hog", namespace="default")
    assert (found["verdict"], found["nodes"]) == ("pass", free)
    assert found["left_out"] == [{"node": taken, "why": "busy: pod default/hog has rdma/shared_ib", "busy": True}]
    deployed = stack.report("hbv4")
    assert {check["check"] for check in found["report"]["checks"]} == {check["check"] for check in deployed["checks"]}


@pytest.mark.usefixtures("left_behind")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_the_measurement_leaves_nothing_in_the_cluster(stack: Stack, sign: signal.Signals) -> None:
    def jobs() -> int:
        return len(list(stack.cluster().list(Job, namespace=SYSTEM_NAMESPACE)))

    deployed = jobs()
    with subprocess.Popen(command(stack), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        eventually(lambda: jobs() > deployed)
        started.send_signal(sign)
        said, complained = started.communicate(timeout=LIMIT_SECONDS)
    assert (started.returncode, said, complained) == (130, "", "aks-infiniband validate: stopped\n")


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


def test_destroy_leaves_no_node(stack: Stack, brought_up: Outcome) -> None:
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert stack.nodes() == []
