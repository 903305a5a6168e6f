"""The watch: when a node has to be measured, when pods may come to it, and what is done for that."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.node_gate import NOT_MEASURED as TAINT
from aks_infiniband.light_check.documents import cron_job_spec
from aks_infiniband.light_check.watch_documents import rules, settings, watch_spec
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.payload.light_check.due import (
    ADMITTED,
    HELD,
    LATE_SECONDS,
    MAINTENANCE,
    PACE_SECONDS,
    Signs,
    judge,
)
from aks_infiniband.validation.payload.light_check.watch import STATE_KEY, Watch, notes_in
from aks_infiniband.validation.payload.talk.api import ApiError

from tests.some_pools import pool

POOL: Any = {
    "name": "nd",
    "selector": "",
    "maintenance": "keep",
    "promised": {"rdma/ib": 8},
    "report": "r",
    "runs": ["r", "r-now"],
}
GATED, LATE, OPEN = ({**POOL, "admission": each} for each in ("measured", "measured-or-late", "at-once"))


SIGNS = Signs(["XIDErrors"], ["FreezeScheduled", "VMEventScheduled"])


def node(
    name: str = "a", *, boot: str = "b1", vm: str = "v1", offers: int = 8, taint: bool = False, **more: Any
) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "True"}, *more.get("conditions", ())]
    return {
        "metadata": {"name": name},
        "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}] if taint else []},
        "status": {
            "nodeInfo": {"bootID": boot, "systemUUID": vm},
            "allocatable": {"rdma/ib": str(offers)},
            "conditions": conditions,
        },
    }


def measured(*, boot: str = "b1", vm: str = "v1", verdict: str = "pass", at: str = "1970-01-01T00:01:00+00:00") -> Any:
    """A measurement of a node with another one, a minute after the beginning of time."""
    return {
        "at": at, "by": "light check", "verdict": verdict, "identity": {"vm": vm, "boot": boot}, "problems": [],
        "sound": {"rdma-write-bandwidth": at},
    }  # fmt: skip


def looked(pool: Any, *nodes: Any, before: Any, now: float = 100, states: Any = None, found: Any = None) -> Any:
    return judge(pool, nodes, before, (states or {}, found or {}), SIGNS, taint=TAINT, now=now)


FIRST = looked(GATED, node(), before=None).known
JOINED = looked(GATED, node(), node("b", vm="v2"), before=FIRST).known
TAINTED = looked(GATED, node(), node("b", vm="v2", taint=True), before=JOINED).known


def test_nodes_that_were_there_before_the_watch_are_left_as_they_are() -> None:
    first = looked(GATED, node(), before=None)
    assert (first.known["a"]["due"], first.known["a"]["gated"], first.run) == ("", False, False)


def test_a_node_that_a_watch_kept_whose_notes_are_lost_is_kept_on() -> None:
    assert looked(GATED, node(taint=True), before=None).known["a"]["gated"]


def test_a_thousand_is_counted_as_the_api_server_writes_it() -> None:
    joined = node("b", vm="v2")
    joined["status"]["allocatable"] = {"rdma/ib": "1k"}
    assert looked(GATED, node(), joined, before=FIRST).known["b"]["usable"]


@pytest.mark.parametrize(("pool", "gated"), [(GATED, True), (LATE, True), (OPEN, False)])
def test_a_node_that_joins_is_measured_and_pods_are_kept_off_it_if_the_pool_says_so(pool: Any, gated: bool) -> None:
    found = looked(pool, node(), node("b", vm="v2"), before=FIRST)
    assert (found.known["b"]["due"], found.known["b"]["gated"], found.run) == ("it joined", gated, True)
    assert found.known["a"]["due"] == ""


@pytest.mark.parametrize(
    ("now", "due"),
    [({"boot": "b2"}, "it restarted"), ({"vm": "v9", "boot": "b9"}, "it joined"), ({}, ""), ({"boot": ""}, "")],
)
def test_another_boot_or_machine_has_to_be_measured(now: Any, due: str) -> None:
    found = looked(GATED, node(**now), before=FIRST).known["a"]
    assert (found["due"], found["gated"]) == (due, bool(due))


def test_a_node_that_does_not_offer_what_it_has_yet_waits_for_that() -> None:
    found = looked(GATED, node(), node("b", vm="v2", offers=0), before=FIRST)
    assert (found.known["b"]["gated"], found.run) == (True, False)


@pytest.mark.parametrize("since", ["1970-01-01T00:05:00Z", "1970-01-01T00:00:01Z"])
def test_a_fault_that_began_since_has_the_node_measured_and_keeps_no_pod_off(since: str) -> None:
    known = looked(GATED, node(), before=None, now=100).known
    xid = {"type": "XIDErrors", "status": "True", "lastTransitionTime": since}
    found = looked(GATED, node(conditions=[xid]), before=known, now=400)
    began = since == "1970-01-01T00:05:00Z"
    assert (found.known["a"]["due"], found.run) == (("its condition XIDErrors is True", True) if began else ("", False))
    assert not found.known["a"]["gated"]


@pytest.mark.parametrize(
    ("measurement", "lifted"),
    [
        (measured(vm="v2"), True),
        (measured(vm="v2", boot="b0"), False),
        (measured(vm="v3"), False),
        (measured(vm="v2", verdict="fail"), False),
        ({**measured(vm="v2"), "sound": {"hca-state": "1970-01-01T00:01:00+00:00"}}, False),
        ({**measured(vm="v2"), "at": "1970-01-01T00:00:50+00:00"}, False),
    ],
    ids=["measured", "on an earlier boot", "another machine", "it failed", "not with another node", "an earlier run"],
)
def test_a_node_is_admitted_by_a_measurement_of_its_boot_with_another_node(measurement: Any, lifted: bool) -> None:
    nodes = (node(), node("b", vm="v2", taint=True))
    found = looked(GATED, *nodes, before=TAINTED, now=160, found={"b": [measurement]})
    assert (found.lift, found.known["b"]["gated"]) == ((["b"], False) if lifted else ([], True))
    assert [event.reason for event in found.told] == ([ADMITTED] if lifted else [])


def test_a_node_that_is_not_healthy_stays_out_however_late_it_is_and_no_more_runs_begin() -> None:
    state: Any = {"healthy": False, "checked": 150}
    nodes = (node(), node("b", vm="v2", taint=True))
    found = looked(LATE, *nodes, before=TAINTED, now=100 + 2 * LATE_SECONDS, states={"b": state})
    assert (found.known["b"]["gated"], found.lift, found.told, found.run) == (True, [], [], False)


@pytest.mark.parametrize(("pool", "reason", "gated"), [(GATED, HELD, True), (LATE, ADMITTED, False)])
def test_a_node_that_could_not_be_measured_is_held_or_admitted_as_the_pool_says_and_that_is_said_once(
    pool: Any, reason: str, gated: bool
) -> None:
    nodes = (node(), node("b", vm="v2", taint=True))
    late = looked(pool, *nodes, before=TAINTED, now=100 + LATE_SECONDS)
    assert [(event.node, event.reason) for event in late.told] == [("b", reason)]
    assert "could not be measured for 10 minutes" in late.told[0].message
    assert (late.known["b"]["gated"], late.lift) == (gated, [] if gated else ["b"])
    assert looked(pool, *nodes, before=late.known, now=200 + LATE_SECONDS).told == []


FREEZE = {"type": "FreezeScheduled", "status": "True", "message": "Freeze at 12:00"}


def test_announced_maintenance_keeps_new_pods_off_says_so_once_and_has_the_node_measured_afterwards() -> None:
    found = looked(GATED, node(conditions=[FREEZE]), before=FIRST, now=100)
    assert (found.known["a"]["gated"], found.run) == (True, False), "it is not measured while that is to come"
    (event,) = found.told
    assert (event.reason, "FreezeScheduled: Freeze at 12:00" in event.message) == (MAINTENANCE, True)
    postponed = looked(GATED, node(conditions=[FREEZE], taint=True), before=found.known, now=5000)
    assert (postponed.known["a"]["gated"], postponed.told, postponed.run) == (True, [], False)
    over = looked(GATED, node(taint=True), before=postponed.known, now=6000)
    assert (over.known["a"]["gated"], over.run, over.lift) == (True, True, [])
    before_it = looked(GATED, node(taint=True), before=over.known, now=6010, found={"a": [measured()]})
    assert before_it.lift == [], "a measurement before it says nothing"
    after = measured(at="1970-01-01T01:41:00+00:00")
    assert looked(GATED, node(taint=True), before=over.known, now=6100, found={"a": [after]}).lift == ["a"]


def test_a_node_that_restarted_for_maintenance_is_measured_as_any_that_restarted() -> None:
    announced = looked(GATED, node(conditions=[FREEZE]), before=FIRST, now=100).known
    found = looked(GATED, node(boot="b2", taint=True), before=announced, now=900).known["a"]
    assert (found["due"], found["gated"]) == ("it restarted", True)


def test_without_the_setting_maintenance_is_left_to_azure() -> None:
    found = looked(OPEN, node(conditions=[FREEZE]), before=FIRST, now=100)
    assert (found.known["a"]["due"], found.told) == ("", [])


def test_a_person_who_takes_the_taint_away_admits_the_node() -> None:
    found = looked(GATED, node(), node("b", vm="v2"), before=TAINTED, now=130)
    assert (found.known["b"]["gated"], found.lift) == (False, [])


def test_without_the_setting_taints_go() -> None:
    found = looked(OPEN, node(), node("b", vm="v2", taint=True), before=TAINTED, now=130)
    assert found.lift == ["b"]


class Cluster:
    """The API server as the watch sees it: nodes, ConfigMaps, two CronJobs."""

    def __init__(self, *nodes: Any) -> None:
        self.there = list(nodes)
        self.texts: dict[str, dict[str, str]] = {"watch": {}}
        self.suspended, self.active = True, list[str]()
        self.events: list[Any] = []
        self.conflict = False

    def nodes(self, _: str) -> list[Any]:
        return self.there

    def config_map_data(self, _: str, name: str) -> dict[str, str]:
        if name not in self.texts:
            raise ApiError("GET", 404, "not found")
        return self.texts[name]

    def merge_config_map_data(self, _: str, name: str, data: dict[str, str]) -> None:
        self.texts[name] |= data

    def set_taints(self, found: Any, taints: list[Any]) -> None:
        if self.conflict:
            raise ApiError("PATCH", 409, "changed meanwhile")
        found["spec"]["taints"] = taints

    def cron_job(self, _: str, name: str) -> Any:
        return {"spec": {"suspend": self.suspended if name == "r-now" else None}, "status": {"active": self.active}}

    def suspend_cron_job(self, _: str, name: str, *, suspended: bool) -> None:
        assert name == "r-now", "the scheduled one is nobody's to change"
        self.suspended = suspended

    def create_event(self, event: Any) -> None:
        self.events.append(event)

    def taints(self, name: str) -> list[str]:
        (found,) = [each for each in self.there if each["metadata"]["name"] == name]
        return [taint["key"] for taint in found["spec"]["taints"]]


def watching(cluster: Cluster, each: Any = GATED) -> Watch:
    given: Any = {
        "namespace": "ns",
        "state": "watch",
        "taint": TAINT,
        "problems": [],
        "maintenance": ["FreezeScheduled"],
        "spared": ["ns"],
    }
    given["pools"] = [each]
    return Watch(cluster, given)  # type: ignore[arg-type]


def new(name: str, **more: Any) -> dict[str, Any]:
    found = node(name, **more)
    found["metadata"]["uid"] = f"uid-{name}"
    found["spec"]["taints"] = [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    return found


def test_a_node_that_joins_is_kept_measured_and_admitted() -> None:
    cluster = Cluster(new("a"))
    watch = watching(cluster)
    watch.once(0)
    assert cluster.taints("a") == ["sku"]
    cluster.there.append(new("b", vm="v2"))
    watch.once(1000)
    assert cluster.taints("b") == ["sku", TAINT], "another program's taint stays"
    assert not cluster.suspended
    cluster.active = ["a run"]
    watch.once(1020)
    assert cluster.suspended, "one run, and not one every minute"
    found = {**measured(vm="v2", at="1970-01-01T00:17:30+00:00"), "pool": "nd", "values": []}
    state = {"checked": 1050, "healthy": True, "reason": "", "message": "", "links": {}, "counters": {}, "errors": {}}
    nodes = {"b": {**state, "bandwidth": {}, "measurement": found}}
    cluster.texts["r"] = {"light-check.json.gz": json.dumps({"schema_version": 1, "nodes": nodes})}
    cluster.active = []
    watch.once(1060)
    assert cluster.taints("b") == ["sku"]
    (event,) = cluster.events
    assert (event["reason"], event["type"], event["involvedObject"]["uid"]) == (ADMITTED, "Normal", "uid-b")
    watch.once(1075)
    assert (cluster.suspended, len(cluster.events)) == (True, 1)


def test_another_pod_of_the_watch_goes_on_where_the_last_one_was() -> None:
    cluster = Cluster(new("a"))
    watching(cluster).once(0)
    cluster.there.append(new("b", vm="v2"))
    watching(cluster).once(1000)
    noted = notes_in(cluster.texts["watch"][STATE_KEY])
    assert (noted["nd"]["begun"], noted["nd"]["nodes"]["b"]["due"]) == (1000, "it joined")
    cluster.suspended = True
    watching(cluster).once(1000 + PACE_SECONDS - 1)
    assert cluster.suspended, "not sooner than the pace"
    watching(cluster).once(1000 + PACE_SECONDS)
    assert not cluster.suspended


def test_a_node_that_is_changed_meanwhile_is_tainted_at_the_next_look() -> None:
    cluster = Cluster(new("a"))
    watching(cluster).once(0)
    cluster.there.append(new("b", vm="v2"))
    cluster.conflict = True
    watching(cluster).once(100)
    assert cluster.taints("b") == ["sku"]
    cluster.conflict = False
    watching(cluster).once(115)
    assert cluster.taints("b") == ["sku", TAINT]


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", json.dumps({"schema_version": 2, "pools": {}}), json.dumps({"schema_version": 1, "pools": [7]}),
        json.dumps({"schema_version": 1, "pools": {"nd": {"begun": 0, "nodes": {"a": {"vm": 7}}}}}),
    ],
)  # fmt: skip
def test_notes_that_cannot_be_read_begin_anew_and_let_no_kept_node_go(text: str) -> None:
    assert notes_in(text) == {}
    cluster = Cluster(new("a"))
    cluster.there[0]["spec"]["taints"].append({"key": TAINT, "effect": "NoSchedule"})
    cluster.texts["watch"] = {STATE_KEY: text}
    watching(cluster).once(0)
    assert cluster.taints("a") == ["sku", TAINT]


def test_what_we_run_comes_to_a_node_that_is_not_measured_and_a_workload_does_not() -> None:
    gated, at_once = pool(admission="measured"), pool()
    (extra,) = [each for each in gated.upkeep_tolerations if each not in gated.tolerations]
    assert extra == {"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}
    assert at_once.upkeep_tolerations == at_once.tolerations


def test_the_watch_may_patch_nodes_only_where_a_pool_is_measured_first() -> None:
    def of_nodes(*pools: Any) -> Any:
        (rule,) = rules(pools, "ns")[None]
        return rule["verbs"]

    assert of_nodes(pool()) == ["get", "list"]
    assert of_nodes(pool(), pool(name="b", admission="measured-or-late")) == ["get", "list", "patch"]


def test_there_is_one_watch_at_a_time_and_it_knows_what_a_usable_node_offers() -> None:
    spec = watch_spec([pool(mode="sriov")], "ns", Registry())
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    (given,) = settings([pool(mode="sriov")], "ns")["pools"]
    assert given["promised"] == {"nvidia.com/gpu": 8, "rdma/ib": 8}
    assert given["runs"] == ["ndh100-light-check", "ndh100-light-check-now"]


def test_the_pages_table_of_times_is_what_the_programs_allow_and_ends_within_ten_minutes() -> None:
    page = (Path(__file__).parents[3] / "docs" / "light-check.md").read_text(encoding="utf-8")
    table = page.partition("| from the time at which a node offers")[2].partition("\n\n")[0]
    seconds = [int(found) for found in re.findall(r"\| (\d+) s \|", table)]
    arguments = cron_job_spec(pool(), schedule="* * * * *", namespace="ns", given={}, registry=Registry())
    (container,) = arguments["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    given = dict(zip(container["args"][::2], container["args"][1::2], strict=False))
    looks = int(watch_spec([pool()], "ns", Registry())["template"]["spec"]["containers"][0]["args"][3])
    wait, measure = int(given["--timeout-seconds"]), int(given["--measure-seconds"])
    assert seconds == [looks, 60, 120, wait, measure, measure // 4 + looks]
    assert sum(seconds) <= LATE_SECONDS
    assert f"together | {sum(seconds) / 60:g} minutes" in table
