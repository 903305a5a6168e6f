"""The watch at work: taints, runs, Events, notes; tests/unit/validation/cases/watch.yaml has its decisions."""

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
    LATE_SECONDS,
    PACE_SECONDS,
)
from aks_infiniband.validation.payload.light_check.watch import STATE_KEY, Watch, notes_in
from aks_infiniband.validation.payload.talk.api import ApiError

from tests.some_pools import pool
from tests.unit.validation.cases.watching import POOL, measured, node_of

MEASURED = "1970-01-01T00:17:30+00:00"


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


def watching(cluster: Any) -> Watch:
    given: Any = {"namespace": "ns", "state": "watch", "taint": TAINT, "problems": [], "spared": ["ns"]}
    given |= {"maintenance": ["FreezeScheduled"], "pools": [POOL]}
    return Watch(cluster, given)


def new(name: str, **more: Any) -> dict[str, Any]:
    found = node_of(name, **more)
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
    found = {**measured(at=MEASURED, sound={"rdma-write-bandwidth": MEASURED}), "pool": "nd", "values": []}
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
