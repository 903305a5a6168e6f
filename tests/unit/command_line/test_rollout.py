"""`aks-infiniband rollout`: one node gets another driver, and the others follow only if it is as good."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main
from aks_infiniband_cli.rollout import command, gate
from aks_infiniband_cli.rollout.hold import MARK, SKIP, STATE
from aks_infiniband_cli.validate.run import Measured
from lightkube.resources.core_v1 import Node, Pod

from tests.unit.command_line.validations import found_in, kubeconfig_in, node, pod, report, validation

OLD, NEW = "nvcr.io/nvidia/mellanox/doca-driver:old", "nvcr.io/nvidia/mellanox/doca-driver:new"


def driver(on: str, image: str) -> dict[str, Any]:
    metadata = {"name": f"mofed-{on}", "namespace": "network-operator", "labels": {"nvidia.com/ofed-driver": ""}}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [{"image": image}]}}


class Item:
    """An object as the client gives it."""

    def __init__(self, document: Any) -> None:
        self.document = document

    def to_dict(self) -> Any:
        return copy.deepcopy(self.document)


class Cluster:
    """Nodes, pods and one policy. Once nodes are held, the operator gives every other node the new driver."""

    def __init__(self, *nodes: Any, automatic: bool = True, fails: bool = False) -> None:
        self.nodes = {item["metadata"]["name"]: item for item in nodes}
        self.drivers = dict.fromkeys(self.nodes, OLD)
        self.others: list[Any] = []
        self.later: list[Any] = []
        """Pods that come when the driver has changed."""
        self.policy = {"spec": {"ofedDriver": {"upgradePolicy": {"autoUpgrade": automatic}}}}
        self.fails = fails

    def pods(self) -> list[Any]:
        return [*self.others, *(driver(name, image) for name, image in self.drivers.items())]

    def list(self, kind: Any, **_: Any) -> Any:
        if kind is Node:
            return [Item(item) for item in self.nodes.values()]
        return [Item(item) for item in self.pods()] if kind is Pod else [self.policy]

    def get(self, _: Any, name: str) -> Item:
        """Who looks at a node has waited: the operator has gone on."""
        if self.fails:
            self.nodes[name]["metadata"]["labels"][STATE] = "upgrade-failed"
        else:
            self.roll()
        return Item(self.nodes[name])

    def roll(self) -> None:
        self.others = self.later
        for name, item in self.nodes.items():
            if item["metadata"]["labels"].get(SKIP) == "true":
                item["metadata"]["labels"][STATE] = "upgrade-required"
            else:
                self.drivers[name] = NEW

    def patch(self, _: Any, name: str, change: Any) -> None:
        metadata = self.nodes[name].setdefault("metadata", {})
        for part in ("labels", "annotations"):
            merged = {**metadata.get(part, {}), **change["metadata"].get(part, {})}
            metadata[part] = {key: value for key, value in merged.items() if value is not None}

    def held(self) -> set[str]:
        return {name for name, item in self.nodes.items() if item["metadata"]["labels"].get(SKIP) == "true"}


def warned(check: str, device: str | None = None) -> dict[str, Any]:
    kept = {"node": None, "expected": None, "measured": None, "unit": None, "tries": None, "cause": "drivers differ"}
    return {"check": check, "verdict": "warn", "device": device, **kept}


MIXED = warned("versions")
"""What the report says while one node has another driver."""
FALLEN = (MIXED, warned("regression", "rdma-write-bandwidth"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on a cluster; what was measured is given."""

    def run(cluster: Cluster, *flags: str, code: int, measured: Any = None) -> dict[str, Any]:
        def measure(_: Any, runs: Any, __: Any) -> Any:
            (only,) = runs
            assert [item["metadata"]["name"] for item in only.awaited] == [only.nodes[0]["metadata"]["name"]]
            assert len(only.nodes) == 2
            return {"ndh100": Measured(report=measured)}

        def read(client: Any) -> Any:
            return {"ndh100": validation()}, [i.to_dict() for i in client.list(Node)], client.pods()

        monkeypatch.setattr(gate, "connected", lambda _: cluster)
        monkeypatch.setattr("aks_infiniband_cli.validate.looking.connected", lambda _: cluster)
        monkeypatch.setattr(gate, "read_cluster", read)
        monkeypatch.setattr(gate, "measure", measure)
        monkeypatch.setattr("time.sleep", lambda _: None)
        flags_ = ["rollout", "--kubeconfig", str(kubeconfig_in(tmp_path)), "--output", "json", *flags]
        assert main(flags_) == code
        said: dict[str, Any] = json.loads(capsys.readouterr().out or "{}")
        return said

    return run


def test_a_driver_that_is_as_good_is_let_go_on_to_every_node(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"), node("c"))
    found = run(cluster, code=0, measured=report(393.0, MIXED))
    assert (found["accepted"], found["first"], found["released"]) == (True, "a", ["b", "c"])
    assert found["driver"] == {"before": OLD, "now": NEW}
    assert cluster.held() == set()
    for item in cluster.nodes.values():
        assert not {STATE, SKIP} & set(item["metadata"]["labels"])
        assert MARK not in item["metadata"].get("annotations", {})


def test_a_figure_that_fell_stops_it_and_the_others_keep_their_driver(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"), node("c"))
    found = run(cluster, "--first", "b", code=1, measured=report(196.55, *FALLEN))
    assert (found["accepted"], found["held"]) == (False, ["a", "c"])
    assert found["shortfalls"] == ["rdma-write-bandwidth: 196.55 Gb/s, it was 393.1 (-50 %)"]
    assert cluster.held() == {"a", "c"}
    assert cluster.drivers == {"a": OLD, "b": NEW, "c": OLD}
    assert run(cluster, code=2) == {}, "nobody begins another one now"
    assert run(cluster, "--release", code=0)["released"] == ["a", "c"]
    assert cluster.held() == set()


def test_back_waits_for_the_old_driver_on_the_first_node_and_drains_no_other(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"))
    run(cluster, code=1, measured=report(196.55, *FALLEN))
    looks = []

    def pods() -> Any:
        looks.append(cluster.held())
        if len(looks) > 2:
            cluster.drivers["a"] = OLD
        return [driver(name, image) for name, image in cluster.drivers.items()]

    cluster.pods = pods  # type: ignore[method-assign]
    assert run(cluster, "--back", code=0)["released"] == ["b"]
    assert looks == [{"b"}] * 3, "it was held for as long as the first node had the new driver"
    assert STATE not in cluster.nodes["b"]["metadata"]["labels"], "the operator looks anew whether it needs a driver"


def test_an_upgrade_that_fails_stops_it(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"), fails=True)
    found = run(cluster, code=1)
    assert "the upgrade of the driver has failed on node a" in found["shortfalls"][0]
    assert (found["held"], found["pools"]) == (["b"], {})


def test_nodes_that_are_taken_when_they_are_to_be_measured_stay_held(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"))
    cluster.later = [pod("nda100-validate", "b", rdma__shared_ib="1")]
    run(cluster, code=2)
    assert cluster.held() == {"b"}


def test_a_label_that_somebody_else_has_put_on_a_node_stays(run: Any) -> None:
    others = node("c")
    others["metadata"]["labels"][SKIP] = "true"
    cluster = Cluster(node("a"), node("b"), others)
    assert run(cluster, code=0, measured=report(393.0))["released"] == ["b"]
    assert cluster.held() == {"c"}


@pytest.mark.parametrize("wanted", [None, "b"])
def test_it_takes_two_idle_nodes_of_a_pool(wanted: str | None) -> None:
    nodes, images = [node("a"), node("b")], {"a": OLD, "b": OLD}
    busy = [pod("train", "b", rdma__shared_ib="1")]
    assert gate.first_node({"ndh100": validation()}, nodes, [], images, wanted)[1] == (wanted or "a")
    with pytest.raises(CommandError, match="b: busy: pod team/train has rdma/shared_ib"):
        gate.first_node({"ndh100": validation()}, nodes, busy, images, wanted)
    with pytest.raises(CommandError, match="the Network Operator brings"):
        gate.first_node({"ndh100": validation()}, nodes, [], {}, wanted)


def test_where_no_driver_rolls_out_by_itself_nothing_is_held(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"), automatic=False)
    run(cluster, code=2)
    assert cluster.held() == set()


def test_the_transcript_of_the_page_is_what_the_command_prints() -> None:
    """The document is that of a rehearsal, without what no text shows."""
    said = json.loads(Path(__file__).with_name("validated.json").read_text(encoding="utf-8"))["rollout"]
    (pool,) = found_in({"pools": said["pools"], "cordoned": {}, "uncordoned": {}}).pools
    rollout = gate.Rollout(
        first=said["first"],
        before=said["driver"]["before"],
        now=said["driver"]["now"],
        others=said["held"],
        shortfalls=said["shortfalls"],
        pool=pool,
    )
    answer = command._answer(rollout)
    assert answer.document == said
    page = (Path(__file__).parents[3] / "docs" / "rollout.md").read_text(encoding="utf-8")
    assert f"/kubeconfig\n{answer.text}\n" in page
