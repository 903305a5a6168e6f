"""One machine after the other: the holds, requests, ends, measurements and acceptances, and their order."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.upgrade import machines
from aks_infiniband_cli.upgrade.machines import Stopped, Work, upgraded
from aks_infiniband_cli.upgrade.plan import Target
from aks_infiniband_cli.validate.run import Cluster

from tests.unit.command_line.validations import node as ready_node
from tests.unit.command_line.validations import validation

TARGET = Target(kubernetes="1.36")


class Pool:
    """A pool in AKS and its nodes in Kubernetes, and the pods that hold them. The fake notes the actions on it."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: self._node(name, "1.35.8") for name in names}
        self.held: set[str] = set()
        self.count, self.away = len(names), cast("dict[str, Any] | None", None)
        self.did: list[str] = []
        self.under_way = self.stopped = False
        self.provisioning = "Succeeded"

    def _node(self, name: str, version: str) -> dict[str, Any]:
        made = ready_node(name)
        made["metadata"].setdefault("annotations", {})
        made["status"]["nodeInfo"] = {
            "kubeletVersion": f"v{version}",
            "kernelVersion": "6.8",
            "containerRuntimeVersion": "containerd://2",
        }
        return made

    # The command's calls to Kubernetes.
    def list(self, kind: Any, **_: Any) -> Any:
        self.reimage()
        found = self.nodes.values() if kind.__name__ == "Node" else ()
        return [type("Found", (), {"to_dict": lambda self, each=each: each})() for each in found]

    def get(self, _: Any, name: str, **__: Any) -> Any:
        return type("Found", (), {"to_dict": lambda _: self.nodes[name]})()

    def patch(self, _: Any, name: str, change: dict[str, Any], **__: Any) -> None:
        self.nodes[name]["metadata"]["annotations"] |= change.get("metadata", {}).get("annotations", {})
        if "spec" in change:
            self.did.append(f"uncordon {name}")
            self.nodes[name]["spec"].pop("unschedulable", None)

    # Its calls to AKS.
    def upgrade_pool(self, _pool: str, version: str) -> "Pool":
        if self.under_way:  # as Aks does
            return self
        self.did.append(f"ask for {version}")
        self.under_way, self.provisioning = True, "Upgrading"
        return self

    def read(self) -> Any:
        return SimpleNamespace(pools={"ndh100": SimpleNamespace(count=self.count)})

    def state(self, _: str) -> str:
        if self.away is not None:  # its Node comes back, with the other system
            self.nodes, self.away = {**self.away, **self.nodes}, None
            return self.provisioning
        self.reimage()
        return self.provisioning

    def abort(self, _: str) -> None:
        self.did.append("abort")
        self.under_way, self.provisioning = False, "Canceled"

    def done(self) -> bool:
        self.reimage()
        return not self.under_way

    def failure(self) -> str | None:
        return "UpgradeFailed: Drain node" if self.provisioning == "Failed" else None

    def reimage(self) -> None:
        """AKS cordons the next machine, and gives it another system when nothing holds it."""
        waiting = [name for name, each in self.nodes.items() if not TARGET.reached_by(each)]
        if self.under_way and waiting:
            self.nodes[waiting[0]]["spec"]["unschedulable"] = True
            if waiting[0] not in self.held:
                self.did.append(f"reimage {waiting[0]}")
                self.nodes[waiting[0]] = self._node(waiting[0], "1.36.3")
        elif self.under_way:
            self.under_way, self.provisioning = False, "Succeeded"

    # The pods that hold.
    def hold(self, _client: Any, _validation: Any, nodes: Any) -> None:
        self.held |= {each["metadata"]["name"] for each in nodes}
        self.did.append(f"hold {len(nodes)}")

    def let(self, _client: Any, _validation: Any, names: Any) -> None:
        self.held -= set(names)

    def release(self, *_: Any) -> Sequence[str]:
        self.held.clear()
        return []

    def held_nodes(self, *_: Any) -> Sequence[str]:
        return sorted(self.held)

    def is_stopped(self, *_: Any) -> bool:
        return self.stopped


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Upgrades a pool. short: by machine, what is measured of it."""

    def run(pool: Pool, *, each: bool = True, short: dict[str, list[str]] | None = None) -> Stopped | None:
        def measured(_cluster: Any, _validation: Any, name: str, _say: Any, *, by: str) -> str:
            assert by == "upgrade"
            assert not pool.under_way, "nothing moves while a machine is measured"
            pool.did.append(f"measure {name}")
            return name

        monkeypatch.setattr(machines, "hold", pool)
        monkeypatch.setattr(machines, "measured_with_neighbour", measured)
        monkeypatch.setattr(machines, "shortfalls_of", lambda name: (short or {}).get(name, []))
        monkeypatch.setattr(machines, "lacks", lambda *_: [])
        monkeypatch.setattr("time.sleep", lambda _: None)
        work = Work(
            cluster=Cluster(client=cast("Any", pool), kubeconfig=""),
            aks=cast("Aks", pool),
            validation=validation(),
            asked="1.36",
            target=TARGET,
            each=each,
            ready_seconds=1,
            say=lambda _: None,
            begun=lambda: None,
        )
        return upgraded(work)

    return run


def test_each_machine_is_measured_before_the_next_and_the_last_ends_akss_own_operation(run: Any) -> None:
    pool = Pool("a", "b")
    assert run(pool) is None
    assert pool.did == [
        *("hold 2", "ask for 1.36", "reimage a", "abort", "uncordon b", "measure a"),
        *("hold 1", "ask for 1.36", "reimage b", "measure b"),
    ]
    assert (pool.provisioning, pool.held) == ("Succeeded", set())


def test_it_stops_at_the_first_machine_that_is_slower_and_the_others_stay_held_and_open_for_jobs(run: Any) -> None:
    pool = Pool("a", "b", "c")
    stopped = run(pool, short={"a": ["rdma-write-bandwidth: 98, it was 196"]})
    assert (stopped.node, stopped.held) == ("a", ["b", "c"])
    assert stopped.shortfalls == ["rdma-write-bandwidth: 98, it was 196"]
    assert not any(each["spec"].get("unschedulable") for each in pool.nodes.values())
    assert not pool.under_way


def test_started_again_it_measures_the_machine_that_stopped_it_first_and_goes_on(run: Any) -> None:
    pool = Pool("a", "b")
    run(pool, short={"a": ["slow"]})
    pool.did.clear()
    assert run(pool) is None
    assert pool.did[0] == "measure a"
    assert pool.did.count("measure a") == 1


def test_after_the_first_machine_alone_the_others_follow_unmeasured(run: Any) -> None:
    pool = Pool("a", "b", "c")
    assert run(pool, each=False) is None
    assert [what for what in pool.did if what.startswith(("measure", "reimage"))] == [
        *("reimage a", "measure a", "reimage b", "reimage c"),
    ]


@pytest.mark.parametrize("held", [{"a", "b"}, {"b"}], ids=["AKS chooses", "one was let go"])
def test_what_aks_carries_out_for_a_command_that_is_gone_is_neither_ended_nor_asked_for_again(
    run: Any, held: set[str]
) -> None:
    pool = Pool("a", "b")
    pool.upgrade_pool("nd", "1.36")
    pool.held = held
    assert run(pool) is None
    assert pool.did[:3] == ["ask for 1.36", "reimage a", "abort"], "it is ended when a machine is to be measured"


def test_a_machine_whose_node_is_away_while_it_is_reimaged_is_awaited_and_measured_before_the_next(run: Any) -> None:
    pool = Pool("a", "b", "c")
    pool.under_way, pool.provisioning, pool.held = True, "Upgrading", {"b", "c"}
    pool.nodes.pop("a")
    pool.away = {"a": pool._node("a", "1.36.3")}
    assert run(pool) is None
    assert [did for did in pool.did if did.startswith(("measure", "reimage"))] == [
        *("measure a", "reimage b", "measure b", "reimage c", "measure c"),
    ]


@pytest.mark.parametrize(("held", "state"), [(set(), "Upgrading"), ({"a", "b"}, "Scaling")])
def test_what_could_take_more_than_one_machine_is_ended_first(run: Any, held: set[str], state: str) -> None:
    pool = Pool("a", "b", "c")
    pool.did, pool.provisioning, pool.held = [], state, held
    assert run(pool) is None
    assert pool.did[:3] == ["abort", "hold 3", "ask for 1.36"]


def test_somebody_else_stops_it(run: Any) -> None:
    pool = Pool("a", "b")
    pool.stopped = True
    with pytest.raises(CommandError, match="the upgrade of pool ndh100 was stopped"):
        run(pool)
    assert pool.held == {"a", "b"}


def test_an_operation_that_fails_before_it_has_changed_a_machine_says_why(run: Any, monkeypatch: Any) -> None:
    pool = Pool("a", "b")

    def fail() -> None:
        pool.under_way, pool.provisioning = False, "Failed"

    monkeypatch.setattr(pool, "reimage", fail)
    with pytest.raises(CommandError, match="the upgrade of pool ndh100 ended: UpgradeFailed: Drain node"):
        run(pool)
