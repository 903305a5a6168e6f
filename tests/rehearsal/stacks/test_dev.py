"""The stack `dev`, from nothing to a validated cluster, changed, and back to nothing. The tests follow one another.

The stack is brought up as a person does it, with `make rehearse KEEP=1`, and the rest is done in the cluster that it
left.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from aks_infiniband.workload.checked import Workload
from aks_infiniband.workload.jobs import indexed_job
from lightkube.resources.core_v1 import Namespace
from mcp import Client, StdioServerParameters

from rehearsal.control_plane import RunFolder
from rehearsal.testing.plugin import Rehearse
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.shell import in_shell, shell
from tests.snippets import snippets

from . import commands
from .commands import LIMIT_SECONDS, UP, printed, processes_of
from .conftest import AKSS_NAMES, Stack, copy_of_project, doctor

STACK = "dev"
LESS_THAN_AN_ADMINISTRATOR = """
kubectl apply --filename role.yaml
kubectl create serviceaccount doctor --namespace default
kubectl create clusterrolebinding doctor --clusterrole aks-infiniband-doctor --serviceaccount default:doctor
kubectl config view --raw --flatten > doctor.yaml
chmod 600 doctor.yaml
token=$(kubectl create token doctor --namespace default)
kubectl config --kubeconfig doctor.yaml set-credentials doctor --token "$token"
kubectl config --kubeconfig doctor.yaml set-context --current --user doctor
"""
"""A kubeconfig of an account that has the role of a page and no other."""
POOL = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "gpuDirect": "auto"}
BUILT_IN_NAMESPACES = {"default", "kube-node-lease", "kube-public", "kube-system"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = copy_of_project(tmp_path_factory.mktemp("dev") / "checkout")
    yield folder
    commands.rehearse(folder, "down", "all").wait(LIMIT_SECONDS)


@pytest.fixture(scope="module")
def brought_up(checkout: Path) -> str:
    """The stack, up from nothing; what the command printed."""
    up = commands.rehearse(checkout, "up", STACK, "--keep", *UP)
    assert up.wait(LIMIT_SECONDS) == 0, printed(checkout)
    return printed(checkout)


@pytest.fixture(scope="module")
def stack(checkout: Path, brought_up: str, rehearse: Rehearse) -> Stack:
    """The stack that the command has left."""
    left = Stack(rehearse(checkout, STACK, kept=True).rehearsal)
    assert left.rdma_devices() == AKSS_NAMES
    return left


@pytest.fixture(scope="module")
def planned(stack: Stack, brought_up: str) -> Outcome:
    """A preview of many changes at once: of one pool's machines, and of all else that a stack file says."""
    unchanged = stack.file.read_text()
    tainted = {"name": "hb", "vmSize": "Standard_HB120rs_v3", "count": 2, "taints": ["sku=hpc:NoSchedule"]}
    stack.settings(
        pools=[{**POOL, "vmSize": "Standard_ND96isr_H200_v5"}, tainted],
        validation={"mode": "off"},
        readiness={"timeoutSeconds": 600},
        cluster={"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport", "systemPool": {"count": 5}},
    )
    outcome = stack.preview()
    stack.file.write_text(unchanged)
    assert outcome.succeeded, outcome.said
    return outcome


def test_what_the_command_prints_names_what_was_made_each_pools_verdict_and_a_line_for_kubectl(
    stack: Stack, brought_up: str
) -> None:
    assert "AgentPool" in brought_up
    assert "ndh100: pass" in brought_up
    result = json.loads(stack.rehearsal.run.result.read_text())
    assert (result["stack"], result["status"], "kubeconfig" in result["outputs"]) == ("dev", "succeeded", False)
    assert result["validation"]["ndh100"]["verdict"] == "pass"
    assert all(
        0 <= resource["start_s"] <= resource["end_s"] <= result["makespan_s"] for resource in result["resources"]
    )
    assert {resource["status"] for resource in result["resources"]} <= {"create", "read"}
    found = re.search(r"^  (\. \S+)$", brought_up, re.MULTILINE)
    assert found, brought_up
    listing = in_shell(f"{found[1]} && kubectl get nodes --no-headers && pulumi stack output clusterName")
    assert len(re.findall(r"^aks-ndh100-\S+ +Ready", listing, re.MULTILINE)) == 2
    assert listing.splitlines()[-1] == "aks-infiniband-dev"


def test_one_up_gives_a_cluster_whose_nodes_offer_gpus_and_the_rdma_resource(stack: Stack, brought_up: str) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool="ndh100")]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2


def test_the_doctor_finds_nothing_wrong_and_needs_no_more_than_its_pages_role(
    stack: Stack, brought_up: str, tmp_path: Path
) -> None:
    [role] = snippets("doctor.md", "yaml")
    (tmp_path / "role.yaml").write_text(role)
    shell(stack.rehearsal, LESS_THAN_AN_ADMINISTRATOR, folder=tmp_path)
    found = doctor(tmp_path / "doctor.yaml")
    assert found["findings"] == []
    refused = [why for why in found["unread"] if "forbidden" in why]
    assert {why.partition(" in ")[0] for why in refused} == {"Helm's records"}


@pytest.mark.field_report("B16", "C9")
def test_an_assistant_reads_the_cluster_by_the_server_that_it_starts(stack: Stack, brought_up: str) -> None:
    """With the protocol's own client, over standard input and output."""
    program = str(Path(sys.executable).with_name("aks-infiniband"))
    server = StdioServerParameters(command=program, args=["mcp", "--kubeconfig", str(stack.rehearsal.run.kubeconfig)])
    node = stack.nodes(agentpool="ndh100")[0]["metadata"]["name"]

    async def asked() -> dict[str, Any]:
        async with Client(server) as client:
            questions: dict[str, dict[str, Any]] = {
                "doctor": {},
                "report": {"pool": "ndh100"},
                "machine": {"node": node},
            }
            return {tool: (await client.call_tool(tool, given)).structured_content for tool, given in questions.items()}

    found = anyio.run(asked)
    assert found["doctor"]["findings"] == []
    assert found["report"]["pools"]["ndh100"]["verdict"] == "pass"
    assert found["report"]["pools"]["ndh100"]["passed"] > 40
    assert found["machine"]["node"] == node
    assert found["machine"]["standing_against"] == []


def test_the_ethernet_mlx5_of_the_system_pool_is_not_handed_out(stack: Stack, brought_up: str) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(**{"kubernetes.azure.com__mode": "system"})]
    assert offered
    assert all("rdma/shared_ib" not in node for node in offered)


def test_the_outputs_say_what_a_workload_needs_and_what_validation_found(stack: Stack, brought_up: str) -> None:
    outputs = stack.outputs()
    assert outputs["kubeconfig"] == "[secret]"
    assert outputs["clusterName"]
    pool = outputs["pools"]["ndh100"]
    assert (pool["vmSize"], pool["nodeCount"], pool["rdmaResource"]) == (
        "Standard_ND96isr_H100_v5",
        2,
        "rdma/shared_ib",
    )
    assert outputs["workload"] == "aks-infiniband workload --stack dev"
    limits = stack.workload("ndh100")["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
    assert (limits["rdma/shared_ib"], limits["nvidia.com/gpu"]) == ("1", "8")
    summary, report = pool["validation"], stack.report("ndh100")
    assert report["verdict"] == "pass"
    assert summary == {
        "verdict": "pass",
        "coverage": report["coverage"]["summary"],
        "finished": report["finished"],
    }
    assert len(report["nodes"]) == 2
    assert report["coverage"]["summary"].startswith("2 of 2 nodes, 16 of 16 HCAs")
    assert report["coverage"]["not_measured"] == []
    measured = {check["check"] for check in report["checks"] if check["verdict"] == "pass"}
    assert measured >= {"rdma-write-bandwidth", "rdma-read-latency", "all-reduce", "collective-transport"}


def test_the_nodes_saw_the_environment_that_workloads_get(stack: Stack, brought_up: str) -> None:
    for facts in stack.report("ndh100")["nodes"].values():
        assert facts["environment"]["NCCL_IB_DISABLE"] == "0"


def test_no_secret_stands_in_the_engines_state_or_in_a_log(stack: Stack, brought_up: str) -> None:
    run: RunFolder = stack.rehearsal.run
    key = next(line for line in run.kubeconfig.read_text().splitlines() if "client-key-data" in line).split()[-1]
    readable = [*run.pulumi.glob("backend/**/*.json"), *run.logs.glob("*.log")]
    assert readable
    assert [path for path in readable if key in path.read_text(errors="replace")] == []


def test_the_validation_finds_its_image_which_was_pulled_while_drivers_were_installed(
    stack: Stack, brought_up: str
) -> None:
    pulls = {component: stack.pulls(component) for component in ("images", "validate")}
    [image] = {image for images in pulls["images"].values() for image in images if "/nvidia/cuda:" in image}
    assert [image in images for images in pulls["images"].values()] == [True, True], "a machine each"
    assert [image in images for images in pulls["validate"].values()] == [False, False], "and it was there already"


@pytest.mark.field_report("D1")
def test_a_second_up_changes_nothing(stack: Stack, brought_up: str) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


@pytest.mark.field_report("D2")
def test_a_preview_of_another_machine_size_says_that_it_replaces_the_pool(planned: Outcome) -> None:
    pool = {how for what, how in planned.changed.items() if re.fullmatch(r"AgentPool .*\bndh100", what)}
    assert pool
    assert pool <= {"replace", "create-replacement", "delete-replaced"}


@pytest.mark.field_report("B7")
def test_no_change_of_the_stack_file_replaces_or_deletes_the_policy_or_the_feature_rule(planned: Outcome) -> None:
    """Either would take the fabric from under every pod of the cluster."""
    kept = ("NicClusterPolicy", "NodeFeatureRule")
    plan = {what.split()[0]: how for what, how in planned.changed.items() if what.startswith(kept)}
    assert plan["NodeFeatureRule"] == "update", "the new size has another adapter"
    assert set(plan.values()) == {"update"}


def test_a_change_of_the_system_pool_is_left_alone_and_the_preview_says_so(planned: Outcome) -> None:
    assert not [what for what in planned.changed if what.startswith("ManagedCluster")]
    assert "systemPool.count is 5, and in Azure 2" in planned.said


def test_the_commands_of_the_workloads_page_run_the_sample_and_a_job_on_the_pool(
    stack: Stack, brought_up: str, tmp_path: Path
) -> None:
    program, *_ = snippets("workloads.md", "python")
    sample, submit, *_ = snippets("workloads.md", "sh")
    (tmp_path / "job.py").write_text(program)
    shutil.copy(stack.file, tmp_path)
    try:
        shown = shell(stack.rehearsal, sample, folder=tmp_path)
        assert shown.count("4: ACTIVE, 400 Gb/sec (4X NDR)") == 2 * 8
        done = "kubectl wait --for=condition=complete job/train --namespace aks-infiniband --timeout=150s"
        pods = "kubectl get pods --selector job-name=train --namespace aks-infiniband --output json > pods.json"
        shell(stack.rehearsal, f"{submit}\n{done}\n{pods}", folder=tmp_path)
        ran = json.loads((tmp_path / "pods.json").read_text())["items"]
        assert len({pod["spec"]["nodeName"] for pod in ran}) == 2, "a machine each"
    finally:
        made = "kubectl delete job,service,configmap train sample-ndh100 --namespace aks-infiniband --ignore-not-found"
        shell(stack.rehearsal, made, folder=tmp_path)


def test_a_job_of_the_library_gets_a_machine_for_each_pod(stack: Stack, brought_up: str, tmp_path: Path) -> None:
    """Its check is not run here, because simulated machines lack sh: test_require_infiniband.py runs it."""
    template = stack.workload("ndh100")["podTemplate"]
    image = "nvcr.io/nvidia/pytorch:25.12-py3"
    workload = Workload(name="checked", namespace="aks-infiniband", template=template, machines=2, image=image)
    items = indexed_job(workload, ["torchrun", "train.py"])
    (tmp_path / "jobs.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    script = """
kubectl apply --filename jobs.json
kubectl wait --for=condition=complete job/checked --namespace aks-infiniband --timeout=150s
kubectl get pods --selector job-name=checked --namespace aks-infiniband --output json > pods.json
kubectl delete job,service checked --namespace aks-infiniband
"""
    shell(stack.rehearsal, script, folder=tmp_path)
    ran = json.loads((tmp_path / "pods.json").read_text())["items"]
    assert len({pod["spec"]["nodeName"] for pod in ran}) == 2, "a machine each"


def test_one_machine_more_joins_in_place_and_the_pool_is_validated_again(
    stack: Stack, brought_up: str, tmp_path: Path
) -> None:
    stack.settings(pools=[{**POOL, "count": 3}])
    shown = shell(stack.rehearsal, "pulumi preview --color never", folder=tmp_path)
    assert len(shown.splitlines()) <= 40, shown
    assert "not measured" not in shown, "it will be"
    grown = stack.up()
    assert grown.succeeded, grown.said
    assert [how for what, how in grown.changed.items() if what.startswith("AgentPool")] == ["update"]
    summary = stack.outputs()["pools"]["ndh100"]["validation"]
    assert summary["coverage"].startswith("3 of 3 nodes, 24 of 24 HCAs")


@pytest.mark.field_report("A1b", "D2c", "D10", "D11")
def test_destroy_leaves_nothing_in_azure_or_the_cluster_but_the_subscriptions_feature(
    stack: Stack, brought_up: str
) -> None:
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert {record["pulumi_type"] for record in stack.azure()} <= {
        "azure-native:features:SubscriptionFeatureRegistration"
    }
    assert stack.nodes() == []
    left = [namespace.to_dict()["metadata"]["name"] for namespace in stack.cluster().list(Namespace)]
    assert set(left) == BUILT_IN_NAMESPACES


def test_what_was_destroyed_can_be_brought_up_again(stack: Stack, brought_up: str) -> None:
    stack.settings(validation={"mode": "off"})
    again = stack.up()
    assert again.succeeded, again.said
    assert stack.verdicts() == {"ndh100": "not measured"}
    assert len(stack.nodes(agentpool="ndh100")) == 3


def test_a_kept_cluster_goes_with_the_command_that_was_printed(stack: Stack, brought_up: str) -> None:
    [stop] = re.findall(r"^This stops it:\n  (.+)$", brought_up, re.MULTILINE)
    assert in_shell(stop).startswith(f"{STACK}: ended ")
    assert processes_of(stack.rehearsal.project) == []
