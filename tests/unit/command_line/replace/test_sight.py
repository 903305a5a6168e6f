"""The view of `aks-infiniband replace`: healthy nodes, Azure's own actions, a measurement's words on a node."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.facts.managed import AUTO_DRAIN
from aks_infiniband_cli.bad_machines.replace import beginning, replacing
from aks_infiniband_cli.bad_machines.replace.case import Case
from aks_infiniband_cli.bad_machines.replace.history import Read
from aks_infiniband_cli.bad_machines.replace.look import differs
from aks_infiniband_cli.bad_machines.replace.measuring import blamed, missing, problems
from aks_infiniband_cli.bad_machines.replace.quarantine import MARK, TAINT, TOLERATIONS, how_held
from aks_infiniband_cli.bad_machines.replace.sight import Sight, unhealthy
from aks_infiniband_cli.bad_machines.replace.step import Seen, Step

from tests.unit.command_line.validations import node, pod, validation


def sight(*nodes: Any, pods: tuple[Any, ...] = (), events: tuple[Any, ...] = ()) -> Sight:
    return Sight(validation=validation(), nodes=nodes, pods=pods, events=events)


def said(name: str, kind: str, status: str, **more: str) -> Any:
    found = node(name)
    found["status"]["conditions"].append({"type": kind, "status": status, **more})
    return found


def marked(name: str) -> Any:
    found = node(name)
    found["metadata"]["annotations"] = {MARK: "1"}
    return found


def repaired(name: str) -> Any:
    about = {"kind": "Node", "name": name}
    return {
        "metadata": {"name": "e", "namespace": "default"},
        "reason": "NodeRebootStart",
        "message": "rebooting",
        "involvedObject": about,
        "source": {"component": "aks-auto-repair"},
        "lastTimestamp": "2026-11-25T10:00:00Z",
    }


def driver(**metadata: Any) -> Any:
    found = pod("mofed", "a")
    owner = {"kind": "DaemonSet", "name": "mofed", "controller": True}
    labels = {"nvidia.com/ofed-driver": ""}
    found["metadata"] |= {"namespace": "network-operator", "labels": labels, "ownerReferences": [owner], **metadata}
    found["status"]["containerStatuses"] = [{"ready": False}]
    return found


RESUMED = Case(
    id="i",
    node="a",
    pool="hb",
    resource="/subscriptions/S/vm/0",
    agent_pool="hb",
    begun="2026-11-25T10:00:00+00:00",
    why="w",
    stage="restart",
)


def machine(name: str, resource: str = "/subscriptions/s/vm/0", pool: str = "hb") -> Any:
    found = node(name)
    found["metadata"]["labels"]["kubernetes.azure.com/agentpool"] = pool
    found["spec"]["providerID"] = f"azure://{resource}"
    return found


@pytest.mark.parametrize(
    ("changed", "nodes", "machines", "told"),
    [
        ({}, [machine("a")], {}, ""),
        ({}, [machine("a", "/subscriptions/s/vm/1")], {}, "node a says machine /subscriptions/s/vm/1"),
        ({}, [machine("a", pool="other")], {}, "node a says pool other, and its case in the history hb"),
        ({"resource": ""}, [machine("a")], {}, "and its case in the history none"),
        ({"stage": "delete"}, [machine("b")], {"/subscriptions/s/vm/0": "a"}, ""),
        ({"stage": "delete"}, [machine("b")], {"/subscriptions/s/vm/0": "b"}, "Azure says machine b"),
        ({"stage": "delete"}, [machine("b")], {}, ""),
        ({"stage": "refill"}, [machine("a", "/subscriptions/s/vm/9")], {}, ""),
        ({"stage": "refill"}, [machine("b", pool="other")], {}, "another node of its pool says pool other"),
        ({"stage": "arrive"}, [], {}, ""),
    ],
)
def test_a_case_that_was_begun_is_held_against_its_node_and_against_azure(
    changed: Any, nodes: Any, machines: Any, told: str
) -> None:
    found = differs(replace(RESUMED, **changed), sight(*nodes), machines)
    assert (told in found) if told else found == ""


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (Read(), ""),
        (Read(cases=[replace(RESUMED, id="1")], unread="case 0 counts for nothing"), ""),
        (
            Read(lost="replaced-machines-unreadable-1"),
            "b of its pool was taken out by a case",
        ),
        (Read(unread="is None"), "has lost (cannot be read)"),
    ],
)
def test_a_pool_is_left_alone_while_one_of_it_was_taken_out_by_a_case_that_was_lost(read: Read, told: str) -> None:
    found = beginning._lost(read, sight(node("a"), marked("b")))
    assert (told in found) if told else found == ""


def test_healthy_are_those_that_may_be_used_that_nobody_took_out_and_of_which_nobody_says_harm() -> None:
    nodes = [
        node("a"),
        node("b", unschedulable=True),
        node("c", ready="False"),
        said("d", "InfiniBandHealthy", "False"),
        said("e", "InfiniBandHealthy", "True"),
        marked("f"),
        said("g", "VMEventScheduled", "True"),
        node("h"),
    ]
    seen = sight(*nodes, pods=(pod("train", "a", nvidia__com__gpu="8"),))
    assert seen.healthy(["h"]) == ["a", "e"]


@pytest.mark.parametrize(
    ("one", "events", "words"),
    [
        (node("a"), (), ""),
        (
            said("a", "RebootScheduled", "True", message="Wed"),
            (),
            "Azure has scheduled an event for it (RebootScheduled",
        ),
        (said("a", "VMEventScheduled", "False"), (), ""),
        (
            node("a", taints=[{"key": "ToBeDeletedByClusterAutoscaler"}]),
            (),
            "the cluster autoscaler is about to",
        ),
        (node("a", taints=[{"key": AUTO_DRAIN}]), (), "AKS has drained it for a scheduled event of Azure's"),
        (node("a"), (repaired("a"),), "AKS repairs it by itself: node a: NodeRebootStart"),
        (node("a"), (repaired("b"),), ""),
    ],
)
def test_what_azure_does_by_itself_is_said(one: Any, events: tuple[Any, ...], words: str) -> None:
    found = sight(one, events=events).azure(one)
    assert found.startswith(words)
    assert bool(found) == bool(words)


def test_a_quarantine_is_not_what_a_node_lacks_and_a_driver_that_is_not_ready_is() -> None:
    one = node("a", unschedulable=True)
    assert sight(one).lacks(one) == []
    assert sight(one, pods=(driver(),)).lacks(one) == ["pod mofed of its driver is not ready"]


@pytest.mark.parametrize(
    "strange",
    [
        pytest.param({"namespace": "team"}, id="a tenant's"),
        pytest.param({"namespace": "aks-infiniband"}, id="a tenant's, in the namespace of workloads"),
        pytest.param({"ownerReferences": [{"kind": "Job", "controller": True}]}, id="a Job's"),
        pytest.param({"ownerReferences": []}, id="made by hand"),
    ],
)
def test_a_pod_with_a_drivers_label_that_no_operators_daemon_set_has_made_is_no_driver(strange: Any) -> None:
    """With the label alone any tenant's failed pod kept a sound machine from being measured, until it was deleted."""
    forged = driver(**strange)
    assert sight(node("a"), pods=(forged,)).lacks(node("a")) == []
    assert sight(node("a"), pods=(forged,)).serves(node("a"))


def test_a_drivers_pod_that_has_ended_is_waited_for_no_more() -> None:
    ended = driver()
    ended["status"]["phase"] = "Failed"
    assert sight(node("a"), pods=(ended,)).lacks(node("a")) == []


def test_a_node_serves_when_it_and_its_drivers_are_ready() -> None:
    assert sight(node("a")).serves(node("a"))
    assert not sight(node("a", ready="False")).serves(node("a", ready="False"))


def test_what_the_light_check_said_before_a_machine_was_let_in_counts_for_nothing() -> None:
    heard = {"lastHeartbeatTime": "2026-11-25T10:00:00Z", "message": "slow"}
    nodes = [said(name, "InfiniBandHealthy", "False", **heard) for name in ("a", "b", "c")]
    since = {"b": "2026-11-25T11:00:00+00:00", "c": "2026-11-25T09:00:00+00:00"}
    assert unhealthy(nodes, since) == {"a": "light check: slow", "c": "light check: slow"}


def test_pods_that_measure_tolerate_what_keeps_others_from_a_node_in_quarantine() -> None:
    assert {each["key"] for each in TOLERATIONS} == {TAINT, "node.kubernetes.io/unschedulable", AUTO_DRAIN}


def test_a_node_that_validate_has_cordoned_is_unhealthy_by_its_word() -> None:
    found = said(
        "a", "InfiniBandHealthy", "False", reason="FellShort", message="slow", lastHeartbeatTime="2026-11-25T10:00:00Z"
    )
    assert unhealthy([found], {}) == {"a": "validate --cordon: slow"}


def test_how_a_node_is_held() -> None:
    assert how_held(node("a")) == (False, False)
    assert how_held(node("a", unschedulable=True, taints=[{"key": TAINT}])) == (True, True)


def check(verdict: str, of: str | None, name: str = "rdma-write-bandwidth", **more: Any) -> Any:
    found = {"check": name, "verdict": verdict, "node": of, "device": "mlx5_0", "measured": 98.3, "unit": "Gb/s"}
    return {**found, "tries": None, "cause": None, **more}


@pytest.mark.parametrize(
    ("checks", "bad"),
    [
        ([check("pass", "a"), check("pass", "b")], []),
        ([check("warn", "a")], []),
        ([check("fail", "a")], ["rdma-write-bandwidth (mlx5_0): 98.3 Gb/s"]),
        ([check("fail", "b"), check("pass", "a")], []),
        ([check("fail", None, "all-reduce", device=None)], None),
        ([check("warn", None, "regression", device=None)], None),
        ([check("fail", None, "all-reduce", device=None), check("fail", "b")], []),
        ([check("not measured", "a", cause="the tool hangs")], None),
        ([check("not measured", "a")], []),
    ],
)
def test_a_node_is_bad_for_what_names_it_and_what_names_nobody_decides_nothing(
    checks: list[Any], bad: list[str] | None
) -> None:
    report: Any = {"checks": checks, "nodes": {"a": {}, "b": {}}}
    assert problems(report, "a") == bad


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        ({"hcas": [{}] * 8, "gpus": [{}] * 8}, []),
        ({"hcas": [{}] * 7, "gpus": [{}] * 8}, ["7 of 8 HCAs"]),
        ({"hcas": [], "gpus": [{}] * 7}, ["0 of 8 HCAs", "7 of 8 GPUs"]),
        ({"hcas": [{}] * 8, "gpus": []}, []),
        ({"not_read": ["the machine itself"]}, []),
    ],
)
def test_devices_that_a_machine_lacks_by_its_own_count_name_it(machine: Any, told: list[str]) -> None:
    assert missing(machine, {"hcas": {"count": 8}, "gpus": {"count": 8}}) == told


def test_who_else_uses_a_measured_node_and_those_beside_it_is_seen() -> None:
    train = pod("train", "b", **{"nvidia.com__gpu": "8"})
    seen = sight(node("a"), node("b"), pods=(pod("load", "a"), train))
    assert seen.used("a", ["b"]) == "pods team/load run there"
    assert seen.used("b", []) == "pods team/train run there"
    assert sight(node("a"), node("b"), pods=(train,)).used("a", ["b"]).startswith("busy")
    own = pod("validate-x", "a", **{"nvidia.com__gpu": "8"})
    own["metadata"]["namespace"] = validation().namespace
    assert sight(node("a"), pods=(own,)).used("a", []) == ""


def test_others_that_fall_short_are_named() -> None:
    report: Any = {"checks": [check("fail", "b"), check("fail", "a"), check("warn", "c")], "nodes": {}}
    assert blamed(report, "a") == ["b"]


@pytest.mark.parametrize(("load", "steps", "tries"), [((), ["Bad"], 0), ((pod("load", "a"),), ["NotMeasured"], 1)])
def test_what_falls_short_while_somebody_else_uses_the_node_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, load: Any, steps: list[str], tries: int
) -> None:
    report: Any = {"checks": [check("fail", "a")], "nodes": {"a": {}, "b": {}}}
    monkeypatch.setattr(replacing, "measured", lambda *_: SimpleNamespace(report=report, why=[]))
    monkeypatch.setattr(replacing, "sight_of", lambda *_: sight(node("a"), pods=load))
    said = list[str]()
    history: Any = SimpleNamespace(write=lambda _case, step, _what, **_: said.append(step))
    case = Case(id="i", node="a", pool="hb", resource="/x", agent_pool="hb", begun="t", why="w", stage="restart")
    nothing: Any = SimpleNamespace(client=None)
    work = replacing.Replacing(
        cluster=nothing, namespace="ns", history=history, machine=nothing, case=case, folder=nothing, limit=1, say=print
    )
    work._measure(Step(act="measure"), sight(node("a")), Seen(idle=("b",)))
    assert (said, case.tries, bool(case.bad)) == (steps, tries, not load)
