"""Ubuntu's own driver, on GPUs whose software comes later and on a size that only the stack file knows, and the check
that looks at idle nodes. The tests follow one another.
"""

import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
import yaml
from aks_infiniband.facts.node_gate import NOT_MEASURED
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation import machines
from aks_infiniband.validation.payload.light_check.due import LATE_SECONDS
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband.validation.reports import WATCH_EVENT_REASONS
from aks_infiniband_cli.validate import records
from lightkube import Client, codecs
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Event, Node, Pod
from lightkube.resources.policy_v1 import PodDisruptionBudget
from lightkube.types import CascadeType

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.waiting import eventually

from .conftest import Stack
from .light_checks import checked, condition, events, watched
from .stolen_tokens import ACCOUNTS, FOREIGN, TRIED, WRITES_OF, Account, Try, are_held, bring_dranet, refusal, thief

pytestmark = pytest.mark.long

STACK = "dev"
OWN_SIZE = {
    "vcpus": 120,
    "memoryGib": 448,
    "series": "HBv3",
    "infiniband": {"hcaCount": 1, "generation": "HDR", "adapter": "ConnectX-6"},
}


WORKLOAD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "workload", "namespace": "default"},
    "spec": {
        "containers": [{"name": "main", "image": "registry.invalid/x", "resources": {"limits": {"rdma/ib": "1"}}}],
    },
}


HEEDS = {"admission": "measured", "maintenance": "drain"}
RUNS = {"app": "training"}


class Robbed(NamedTuple):
    """Clients by account, the node of their pods, and another one."""

    tokens: dict[Account, Client]
    here: str
    there: str


@pytest.fixture(scope="module", autouse=True)
def changed(stack: Stack) -> None:
    stack.settings(
        networkOperator={"driver": "inbox"},
        lightCheck={"schedule": "0 0 29 2 *"},
        sizes={"Standard_HB121rs_v3": OWN_SIZE},
        pools=[
            {"name": "mi300x", "vmSize": "Standard_ND96isr_MI300X_v5", "count": 2, "mode": "sriov"},
            {"name": "own", "vmSize": "Standard_HB121rs_v3", "count": 3, **HEEDS},
            {"name": "hbv3", "vmSize": "Standard_HB120rs_v3", "count": 2, "mode": "ipoib"},
        ],
    )


def test_the_kernels_own_driver_serves_every_mode_without_an_ofed_container(stack: Stack, brought_up: Outcome) -> None:
    ofed = stack.cluster().list(Pod, namespace="network-operator", labels={"nvidia.com/ofed-driver": ""})
    assert list(ofed) == []
    offered = {
        pool: [
            {
                key: value
                for key, value in node["status"]["allocatable"].items()
                if "/" in key and "hugepages" not in key
            }
            for node in stack.nodes(agentpool=pool)
        ]
        for pool in ("mi300x", "own", "hbv3")
    }
    assert offered == {
        "mi300x": [{"rdma/ib": "8"}] * 2,
        "own": [{"rdma/shared_ib": "63"}] * 3,
        "hbv3": [{"rdma/shared_ib": "63"}] * 2,
    }
    assert stack.verdicts() == {"mi300x": "pass", "own": "pass", "hbv3": "pass"}


def test_gpus_that_nobody_drives_are_not_asked_for(stack: Stack, brought_up: Outcome) -> None:
    template = stack.workload("mi300x")["podTemplate"]
    assert template["spec"]["containers"][0]["resources"]["limits"] == {"rdma/ib": "8"}


def test_node_preparation_gives_up_its_privileges_when_a_node_is_prepared(stack: Stack, brought_up: Outcome) -> None:
    assert stack.privileged() == [("node-preparation", "terminated")] * 7
    idle = stack.cluster().list(Pod, namespace=SYSTEM_NAMESPACE, labels={"app.kubernetes.io/name": "node-preparation"})
    assert [pod.to_dict()["status"]["phase"] for pod in idle] == ["Running"] * 7


@pytest.mark.field_report("C12", "R19")
def test_a_check_names_the_device_whose_link_is_down_and_the_one_that_counts_errors(
    stack: Stack, brought_up: Outcome
) -> None:
    down, flaps = (node["metadata"]["name"] for node in stack.nodes(agentpool="mi300x"))
    stack.fault("link-down", node=down, device="mlx5_3")
    stack.fault("flapping", node=flaps, device="mlx5_5")
    report = checked(stack, "mi300x", "faulty")
    assert {node: state["healthy"] for node, state in report["nodes"].items()} == {down: False, flaps: False}
    status, reason, message = condition(stack, down)
    assert (status, reason) == ("False", "HcaState")
    assert "mlx5_3" in message
    status, reason, message = condition(stack, flaps)
    assert (status, reason) == ("False", "ErrorCounters")
    assert "mlx5_5" in message
    assert events(stack, down) == events(stack, flaps) == [("Warning", "InfiniBandUnhealthy")]
    assert set(report["nodes"][down]["bandwidth"]) == {f"mlx5_{index}" for index in (0, 1, 2, 4, 5, 6, 7)}


def test_a_node_with_a_workload_keeps_its_condition_and_one_that_is_mended_recovers(
    stack: Stack, brought_up: Outcome
) -> None:
    busy, idle = (node["metadata"]["name"] for node in stack.nodes(agentpool="mi300x"))
    stack.mend()
    workload = {**WORKLOAD, "spec": {**WORKLOAD["spec"], "nodeSelector": {"kubernetes.io/hostname": busy}}}
    stack.cluster().apply(codecs.from_dict(workload), field_manager="test")
    eventually(lambda: stack.cluster().get(Pod, "workload").to_dict().get("status", {}).get("phase") == "Running")
    before = condition(stack, busy)
    report = checked(stack, "mi300x", "mended", wait_for_others="1")
    assert condition(stack, idle)[:2] == ("True", "BandwidthNotMeasured")
    assert ("Normal", "InfiniBandRecovered") in events(stack, idle)
    assert condition(stack, busy) == before
    assert report["nodes"][idle]["bandwidth"] == {}, "no second node was idle"
    stack.cluster().delete(Pod, "workload")


def test_nodes_whose_hcas_are_shared_are_measured_while_nobody_shares_them(stack: Stack, brought_up: Outcome) -> None:
    report = checked(stack, "own", "idle")
    states = report["nodes"].values()
    assert [(state["healthy"], sorted(state["bandwidth"])) for state in states] == [(True, ["mlx5_0"])] * 3


def _measured(node: Any, check: str, verdict: str) -> Any:
    """A report of a command on a node."""
    found = make_check(check, verdict, expected="more", measured="less", node=node["metadata"]["name"])
    finished, nodes = datetime.now(UTC).isoformat(timespec="seconds"), {node["metadata"]["name"]: dict[str, Any]()}
    return {"pool": "own", "finished": finished, "checks": [found], "rdma": [], "nodes": nodes}


def test_the_check_and_the_commands_hear_each_other(stack: Stack, brought_up: Outcome) -> None:
    """A node that a command has cordoned stays unhealthy until what it fell short of was measured again, by either."""
    client, namespace = stack.cluster(), SYSTEM_NAMESPACE
    node, other, _ = stack.nodes(agentpool="own")
    name = node["metadata"]["name"]
    for check in ("rdma-write-bandwidth", "gpu-rate"):
        records.keep_measured(client, namespace, _measured(node, check, "fail"), [node], "validate")
    records.keep_decision(client, namespace, name, machines.CORDONED, by="validate --cordon", why="slow")
    report = checked(stack, "own", "heard")
    status, reason, message = condition(stack, name)
    assert (status, reason) == ("False", machines.FELL_SHORT)
    assert "gpu-rate: less, expected more; it was cordoned for that" in message
    assert "rdma-write-bandwidth" not in message, "this check has measured that, and it was well"
    assert condition(stack, other["metadata"]["name"])[0] == "True"
    assert report["nodes"][name]["measurement"]["verdict"] == "pass"

    record = records.read_record(client, namespace)
    assert [one.by for one in record[name].measurements] == ["validate", "validate", machines.LIGHT_CHECK]
    newest = machines.current(record[name], node)
    assert newest is not None
    assert [problem.check for problem in newest.problems] == ["gpu-rate"]

    records.keep_measured(client, namespace, _measured(node, "rdma-write-bandwidth", "pass"), [node], "validate")
    assert condition(stack, name)[0] == "False"
    for check in ("rdma-write-bandwidth", "gpu-rate"):
        (now,) = [each for each in stack.nodes() if each["metadata"]["name"] == name]
        records.keep_measured(client, namespace, _measured(now, check, "pass"), [now], "validate")
    assert condition(stack, name)[:2] == ("True", "MeasuredSound")
    checked(stack, "own", "after")
    assert condition(stack, name)[:2] == ("True", "LightCheckPassed")


def _restart(stack: Stack, node: dict[str, Any]) -> None:
    """Have Azure restart a node's machine, as `az vmss restart` does."""
    command = (
        "import sys; from aks_infiniband_cli.azure.machine import Machine; "
        "machine = Machine(sys.argv[1], sys.argv[2], None); machine.restart()"
    )
    resource = node["spec"]["providerID"].removeprefix("azure://")
    entered = f". {shlex.quote(str(stack.activation()))}"
    whole = shlex.join([sys.executable, "-c", command, resource, "own"])
    subprocess.run(["bash", "-c", f"{entered} && exec {whole}"], check=True, timeout=120)


def _is_kept(stack: Stack, name: str) -> bool:
    (node,) = [each for each in stack.nodes() if each["metadata"]["name"] == name]
    return any(taint["key"] == NOT_MEASURED for taint in node["spec"].get("taints") or [])


def test_a_restarted_node_gets_no_work_until_it_was_measured_with_another_one(
    stack: Stack, brought_up: Outcome
) -> None:
    node = stack.nodes(agentpool="own")[-1]

    def is_kept() -> bool:
        return _is_kept(stack, name)

    name, boot = node["metadata"]["name"], node["status"]["nodeInfo"]["bootID"]
    eventually(lambda: watched(stack), seconds=120)
    assert not is_kept(), "the nodes of the first up were measured by it"
    _restart(stack, node)
    eventually(is_kept, seconds=120)
    eventually(lambda: not is_kept(), seconds=400)
    (after,) = [each for each in stack.nodes() if each["metadata"]["name"] == name]
    assert after["status"]["nodeInfo"]["bootID"] != boot
    record = records.read_record(stack.cluster(), SYSTEM_NAMESPACE)
    newest = record[name].measurements[-1]
    assert (newest.by, newest.identity.boot) == (machines.LIGHT_CHECK, after["status"]["nodeInfo"]["bootID"])
    said = [event for event in stack.cluster().list(Event, namespace="default") if event.involvedObject.name == name]
    (admitted,) = [str(event.message) for event in said if event.reason == WATCH_EVENT_REASONS[1]]
    assert admitted.startswith("it restarted, and the node was measured: light check on ")
    others = [each["metadata"]["name"] for each in stack.nodes(agentpool="own")[:-1]]
    assert not any(_is_kept(stack, each) for each in others)


def _training(stack: Stack, node: str) -> None:
    """A Job with a pod on a node, and a disruption budget that keeps the pod."""
    main: dict[str, Any] = {
        "name": "rank",
        "image": "training:1",
        "command": ["python3", "-c", "import time; time.sleep(900)"],
    }
    main["resources"] = {"limits": {"rdma/shared_ib": "1"}}
    wanted = {"labelSelector": {"matchLabels": RUNS}, "topologyKey": "kubernetes.io/hostname"}
    prefers = {"weight": 1, "preference": {"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": [node]}]}}  # fmt: skip
    spec = {
        "nodeSelector": {"agentpool": "own"},
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers]},
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [wanted]},
        },
        "containers": [main],
    }
    job = {"template": {"metadata": {"labels": RUNS}, "spec": spec}}
    budget = {"minAvailable": 1, "selector": {"matchLabels": RUNS}}
    for version, kind, its in (("batch/v1", "Job", job), ("policy/v1", "PodDisruptionBudget", budget)):
        metadata = {"name": "training", "namespace": "default"}
        stack.cluster().create(
            codecs.from_dict({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": its})
        )


def _runs_on(stack: Stack) -> list[str]:
    pods = stack.cluster().list(Pod, namespace="default", labels=dict[str, Any](RUNS))
    found = [pod.to_dict() for pod in pods]
    return [pod["spec"]["nodeName"] for pod in found if (pod.get("status") or {}).get("phase") == "Running"]


def _said(stack: Stack, kind: str, name: str, reason: str) -> list[str]:
    every = stack.cluster().list(Event, namespace="default")
    own = [each for each in every if (each.involvedObject.kind, each.involvedObject.name) == (kind, name)]
    return [str(each.message) for each in own if each.reason == reason]


def test_before_announced_maintenance_pods_leave_as_their_budget_permits_and_a_cancelled_one_ends_with_a_measurement(
    stack: Stack, brought_up: Outcome
) -> None:
    _, admitted, heeded = WATCH_EVENT_REASONS
    name = stack.nodes(agentpool="own")[0]["metadata"]["name"]

    def is_kept() -> bool:
        return _is_kept(stack, name)

    def told() -> list[str]:
        return _said(stack, "Job", "training", heeded)

    assert not is_kept()
    _training(stack, name)
    eventually(lambda: _runs_on(stack) == [name], seconds=60)
    with stack.broken("maintenance", node=name, event="Reboot", minutes=600):
        eventually(is_kept, seconds=60)
        (first,) = eventually(told, seconds=60)
        assert re.search(rf"node {name} \(.*Reboot Scheduled: \w+, .* GMT.*affects pod training-\w+", first), first
        assert "Evicted 30 minutes before that time, or as soon as disruption budgets permit" in first
        assert _runs_on(stack) == [name], "its budget keeps it"
        said = _said(stack, "Node", name, heeded)
        assert len(said) == 1
    with stack.broken("maintenance", node=name, event="Reboot", minutes=1200):
        eventually(lambda: len(told()) == 2, seconds=60)
        assert is_kept(), "postponed"
        stack.cluster().delete(PodDisruptionBudget, "training", namespace="default")
        eventually(lambda: is_kept() and _runs_on(stack) not in ([], [name]), seconds=60)
    boot = next(each["status"]["nodeInfo"]["bootID"] for each in stack.nodes() if each["metadata"]["name"] == name)
    eventually(lambda: not is_kept(), seconds=300)
    (after,) = [each for each in stack.nodes() if each["metadata"]["name"] == name]
    assert after["status"]["nodeInfo"]["bootID"] == boot, "it was cancelled"
    assert [each["reason"] for each in after["status"]["conditions"] if each["type"] == "VMEventScheduled"] == [
        "NoVMEventScheduled"
    ]
    assert _said(stack, "Node", name, admitted)[-1].startswith(
        "announced maintenance of it is over, or was cancelled, and the node was measured: "
    )
    stack.cluster().delete(Job, "training", namespace="default", cascade=CascadeType.FOREGROUND)


def test_a_node_that_azure_reboots_as_it_has_announced_is_measured_before_pods_come(
    stack: Stack, brought_up: Outcome
) -> None:
    _, admitted, _ = WATCH_EVENT_REASONS
    node = stack.nodes(agentpool="own")[1]
    name, boot = node["metadata"]["name"], node["status"]["nodeInfo"]["bootID"]

    def is_kept() -> bool:
        return _is_kept(stack, name)

    def has_restarted() -> bool:
        (now,) = [each for each in stack.nodes() if each["metadata"]["name"] == name]
        return bool(now["status"]["nodeInfo"]["bootID"] != boot)

    assert not is_kept()
    with stack.broken("maintenance", node=name, event="Reboot", minutes=60):
        eventually(is_kept, seconds=60)
        eventually(lambda: is_kept() and has_restarted(), seconds=120)
        eventually(lambda: not is_kept(), seconds=400)
    assert "it restarted, and the node was measured: light check on " in _said(stack, "Node", name, admitted)[-1]


def test_a_node_that_joins_is_admitted_within_ten_minutes_and_not_before_it_was_measured(
    stack: Stack, brought_up: Outcome
) -> None:
    before = {node["metadata"]["name"] for node in stack.nodes(agentpool="own")}
    pools = yaml.safe_load(stack.file.read_text())["config"]["aks-infiniband:pools"]
    stack.settings(pools=[{**pool, "count": 4} if pool["name"] == "own" else pool for pool in pools])
    done = stack.up()
    assert done.succeeded, done.said
    (new,) = [node for node in stack.nodes(agentpool="own") if node["metadata"]["name"] not in before]
    name = new["metadata"]["name"]
    (admitted,) = eventually(lambda: _said(stack, "Node", name, WATCH_EVENT_REASONS[1]), seconds=LATE_SECONDS)
    assert admitted.startswith("it joined, and the node was measured: light check on ")
    eventually(lambda: not _is_kept(stack, name), seconds=30)
    joined = datetime.fromisoformat(str(new["metadata"]["creationTimestamp"]))
    (event,) = [each for each in stack.cluster().list(Event, namespace="default") if each.message == admitted]
    assert event.lastTimestamp
    assert (event.lastTimestamp - joined).total_seconds() < LATE_SECONDS


@pytest.fixture(scope="module")
def robbed(stack: Stack, brought_up: Outcome) -> Robbed:
    """A token of a pod of each of our accounts, all on one node."""
    here, there, *_ = (node["metadata"]["name"] for node in stack.nodes(agentpool="own"))
    stack.cluster().patch(Node, there, {"spec": {"taints": [FOREIGN]}})
    bring_dranet(stack.cluster(), here, there)
    tokens = {account: thief(stack, account, here) for account in ACCOUNTS}
    eventually(lambda: are_held(tokens["dranet"], there), seconds=30)
    return Robbed(tokens, here, there)


@pytest.mark.parametrize(
    ("account", "attempt"),
    [pytest.param(account, row, id=f"{account}: {row.what}") for account, rows in TRIED.items() for row in rows],
)
def test_a_stolen_token_does_its_accounts_work_on_its_own_node_and_nothing_else(
    robbed: Robbed, account: Account, attempt: Try
) -> None:
    said = refusal(attempt, robbed.tokens[account], robbed.here, robbed.there)
    if attempt.refused is None:
        assert said is None
    else:
        assert said is not None, f"allowed: {attempt.what}"
        assert attempt.refused in said


@pytest.mark.parametrize("account", WRITES_OF)
def test_a_token_that_no_kubelet_has_fetched_writes_nothing(stack: Stack, robbed: Robbed, account: Account) -> None:
    (attempt,) = [row for row in TRIED[account] if row.what == WRITES_OF[account]]
    said = refusal(attempt, thief(stack, account, None), robbed.here, robbed.there)
    assert said is not None
    assert "of the node that its pod is on" in said
