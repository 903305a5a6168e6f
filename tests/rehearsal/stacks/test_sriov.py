"""A stack file of `aks-infiniband init` as it stands: pods that hold HCAs for themselves, which reach GPUs by DMA-BUF.
Then metrics and alerts are added, and drivers change. The tests follow one another.
"""

import subprocess
from pathlib import Path

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Pod

from rehearsal.testing.plugin import Rehearse
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.rehearsal.waiting import eventually

from .conftest import Stack, copy_of_project
from .rolling import COMMAND, GPU_OPERATOR, NIC_POLICIES, driver_images, gpu_driver_images, let_go, rolling_out

STACK = "-".join(["sixteen-machines"] * 5 + ["of-our-own-cloud"])[:100]
"""As long as Pulumi takes, so that the cluster gets another name, and its machines' group one that no label holds."""
ANSWERS = ("--workload", "training", "--size", "Standard_ND96amsr_A100_v4", "--region", "southcentralus")
POOL = "ndma100"
SUBSCRIPTION = "/subscriptions/11111111-2222-4333-8444-555555555555"
WORKSPACE = f"{SUBSCRIPTION}/resourceGroups/monitoring/providers/Microsoft.Monitor/accounts/prometheus"
PodMonitor = create_namespaced_resource("azmonitoring.coreos.com", "v1", "PodMonitor", "podmonitors")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, rehearse: Rehearse) -> Stack:
    """The result for people who choose a way to InfiniBand."""
    project = copy_of_project(tmp_path_factory.mktemp("stack") / "project")
    there = ("--stack", STACK, "--folder", str(project))
    subprocess.run([COMMAND, "init", *ANSWERS, *there], check=True, capture_output=True, timeout=120)
    return Stack(rehearse(project, STACK).rehearsal)


def test_the_name_is_the_longest_and_the_label_of_the_machines_group_is_cut_as_aks_does(
    stack: Stack, brought_up: Outcome
) -> None:
    name = stack.outputs()["clusterName"]
    group = f"MC_{name}_{name}_southcentralus"
    assert (len(STACK), len(name), len(group)) == (100, 30, 79)
    assert {node["metadata"]["labels"]["kubernetes.azure.com/cluster"] for node in stack.nodes()} == {group[:63]}


@pytest.mark.field_report("B14")
def test_every_hca_can_be_held_by_a_pod_of_its_own(stack: Stack, brought_up: Outcome) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool=POOL)]
    assert [(node["rdma/ib"], node["nvidia.com/gpu"]) for node in offered] == [("8", "8")] * 2
    assert all("rdma/shared_ib" not in node for node in offered)


def test_a_pod_that_takes_a_machine_takes_all_its_hcas_and_validation_saw_them(
    stack: Stack, brought_up: Outcome
) -> None:
    pool = stack.outputs()["pools"][POOL]
    assert pool["rdmaResource"] == "rdma/ib"
    limits = stack.workload(POOL)["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
    assert (limits["rdma/ib"], limits["nvidia.com/gpu"]) == ("8", "8")
    assert pool["validation"]["verdict"] == "pass"


@pytest.mark.field_report("B1c", "B3")
def test_by_dma_buf_no_gpu_driver_waits_for_ofed_and_nccls_log_proves_it(stack: Stack, brought_up: Outcome) -> None:
    drivers = stack.cluster().list(Pod, namespace="gpu-operator", labels={"app": "nvidia-driver-daemonset"})
    names = [[container["name"] for container in pod.to_dict()["spec"]["containers"]] for pod in drivers]
    assert names == [["nvidia-driver-ctr"]] * 2, "no container keeps nvidia-peermem loaded"
    (transport,) = [check for check in stack.report(POOL)["checks"] if check["check"] == "collective-transport"]
    assert (transport["verdict"], transport["measured"]) == ("pass", "InfiniBand with GPUDirect RDMA (DMA-BUF)")


def test_the_sample_job_holds_every_hca_of_every_machine_and_completes(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    sample = completed_sample(stack.rehearsal, POOL, folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("4: ACTIVE, 200 Gb/sec (4X HDR)") == 2 * 8


def rule_groups(stack: Stack) -> dict[str, list[str]]:
    """By name, the scopes of the groups of alerts that are in Azure."""
    found = stack.azure("azure-native:alertsmanagement:PrometheusRuleGroup")
    return {record["id"].rpartition("/")[2]: record["outputs"]["scopes"] for record in found}


def test_with_azures_prometheus_a_second_up_adds_alerts_and_exporters_and_changes_nothing_else(
    stack: Stack, brought_up: Outcome
) -> None:
    stack.settings(observability={"prometheus": "azure", "workspaceId": WORKSPACE})
    again = stack.up()
    assert again.succeeded, again.said
    made = {what.split()[0] for what, how in again.changed.items() if how == "create"}
    assert made == {"Observability", "ConfigMap", "DaemonSet", "PodMonitor", "PrometheusRuleGroup"}
    changed = {what: how for what, how in again.changed.items() if how != "create"}
    assert changed == {"Release rdma-gpu-operator": "update"}, "DCGM exporter is asked for by name"
    name = stack.outputs()["clusterName"]
    cluster = f"providers/Microsoft.ContainerService/managedClusters/{name}"
    scopes = [WORKSPACE, f"{SUBSCRIPTION}/resourcegroups/{name}/{cluster}"]  # as AKS writes its own IDs
    names = [f"aks-infiniband-{part}-{name}" for part in ("hcas", "gpus", "light-check")]
    assert rule_groups(stack) == dict.fromkeys(names, scopes)
    found = [dict(monitor) for monitor in stack.cluster().list(PodMonitor, namespace=SYSTEM_NAMESPACE)]
    monitors = {monitor["metadata"]["name"] for monitor in found}
    assert monitors == {"aks-infiniband-gpus", "aks-infiniband-hcas", "aks-infiniband-light-check"}


def stops_on_a_slow_first_node(stack: Stack, before: dict[str, str]) -> None:
    """Another driver makes the first node slow: the other one does not get it until a person releases it."""
    first, other = sorted(before)
    slow = {"name": "slow", "node": first, "device": "mlx5_3", "factor": 0.5}
    with rolling_out(stack, NIC_POLICIES, "--first", first, fault=slow) as (found, updated):
        images = driver_images(stack)
        released = let_go(stack, "--release")
        policy = updated.result()
    assert policy.succeeded, policy.said
    assert [what.split()[0] for what in policy.changed] == ["NicClusterPolicy"]
    assert (found["accepted"], found["held"], released) == (False, [other], [other])
    assert any(short.startswith("rdma-write-bandwidth: ") and "-50" in short for short in found["shortfalls"])
    assert (images[first], images[other]) == (found["driver"]["now"], found["driver"]["before"])
    eventually(lambda: driver_images(stack) == dict.fromkeys(before, found["driver"]["now"]), seconds=300)


@pytest.mark.long
def test_another_gpu_driver_without_dma_buf_stops_on_the_first_node_and_goes_back(
    stack: Stack, brought_up: Outcome
) -> None:
    before = gpu_driver_images(stack)
    first, other = sorted(before)
    closed = {"name": "closed-kernel-modules", "node": first}
    stack.settings(gpuOperator={"driverVersion": "999.1.0"})
    with rolling_out(stack, GPU_OPERATOR, "--driver", "gpu", "--first", first, fault=closed) as (found, updated):
        assert updated.result().succeeded, updated.result().said
        assert (found["accepted"], found["held"], found["released"]) == (False, [other], [])
        assert any(short.startswith("all-reduce: ") for short in found["shortfalls"]), found["shortfalls"]
        assert gpu_driver_images(stack) == {first: found["driver"]["now"], other: before[other]}
        stack.settings(gpuOperator={})
        assert stack.run("up", "--target", *GPU_OPERATOR).succeeded
        assert let_go(stack, "--back") == [other]
    eventually(lambda: gpu_driver_images(stack) == before)


@pytest.mark.long
def test_another_gpu_driver_is_accepted_on_the_first_node_and_the_other_follows(
    stack: Stack, brought_up: Outcome
) -> None:
    before = gpu_driver_images(stack)
    first, other = sorted(before)
    stack.settings(gpuOperator={"driverVersion": "999.2.0"})
    with rolling_out(stack, GPU_OPERATOR, "--driver", "gpu", "--first", first) as (found, updated):
        assert updated.result().succeeded, updated.result().said
    assert (found["accepted"], found["shortfalls"], found["released"]) == (True, [], [other])
    assert "999.2.0" in found["driver"]["now"]
    eventually(lambda: gpu_driver_images(stack) == dict.fromkeys(before, found["driver"]["now"]), seconds=300)


@pytest.mark.field_report("B12")
def test_another_driver_version_stops_on_a_slow_first_node_and_reaches_every_node_when_let_go(
    stack: Stack, brought_up: Outcome
) -> None:
    before = driver_images(stack)
    stack.settings(networkOperator={"mode": "sriov", "driverVersion": "doca3.5.0-26.07-0.1.0.0-0"})
    planned = stack.preview()
    policy = {how for what, how in planned.changed.items() if what.startswith("NicClusterPolicy")}
    assert policy == {"update"}
    assert not [what for what in planned.changed if what.startswith(("AgentPool", "Release"))]
    stops_on_a_slow_first_node(stack, before)
    upgraded = stack.up()
    assert upgraded.succeeded, upgraded.said
    watching = ("PrometheusRuleGroup", "DaemonSet", "PodMonitor", "ConfigMap rdma-observability")
    assert not [what for what in upgraded.changed if what.startswith(watching)], "what is unchanged stays as it is"
    after = driver_images(stack)
    assert set(after) == set(before)
    assert all("doca3.5.0-26.07-0.1.0.0-0" in image for image in after.values())
    assert stack.verdicts() == {POOL: "pass"}, "measured again, with the new driver"


def test_destroy_leaves_no_node_and_no_alert(stack: Stack, brought_up: Outcome) -> None:
    assert rule_groups(stack)
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert (stack.nodes(), rule_groups(stack)) == ([], {})
