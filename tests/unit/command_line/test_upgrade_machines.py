"""One machine after the other: the acts and their order; the single decisions are in `cases`."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade import machines
from aks_infiniband_cli.machine_by_machine.upgrade.hold import STOPPED
from aks_infiniband_cli.machine_by_machine.upgrade.machines import PoolUpgrade, Stopped
from aks_infiniband_cli.machine_by_machine.upgrade.plan import Target
from aks_infiniband_cli.validate.run import Cluster

from tests.unit.command_line.validations import node as ready_node
from tests.unit.command_line.validations import validation

TARGET = Target(kubernetes="1.36")


class Pool:
    """A pool in AKS and its nodes in Kubernetes, and the pods that hold them. The fake notes the actions on it."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: self._node(name, "1.35.8") for name in names}
        self.held: set[str] = set()
        self.count, self.away, self.looks = len(names), cast("dict[str, Any] | None", None), 0
        self.did: list[str] = []
        self.under_way = self.stopped = self.stops = False
        self.provisioning, self.ends = "Succeeded", list[str]()

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
        return SimpleNamespace(pools={"ndh100": SimpleNamespace(count=self.count, state=self.state("ndh100"))})

    def state(self, _: str) -> str:
        if self.away is not None:
            self.looks += 1
            if self.looks > 2:  # its Node comes back, with the other system
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
            self.under_way, self.provisioning = False, self.ends.pop() if self.ends else "Succeeded"

    # The pods that hold.
    def hold(self, _validation: Any, names: Any) -> None:
        self.held |= {*names}
        self.did.append(f"hold {len(names)}")
        self.stopped = self.stops

    def let_go(self, names: Any) -> None:
        self.held -= {*names}

    def release(self) -> Sequence[str]:
        self.held.clear()
        return []

    def nodes_held(self) -> Sequence[str]:
        return sorted(self.held)

    def budget(self) -> Any:
        return {"metadata": {"annotations": {STOPPED: "true"}}} if self.stopped else None


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Upgrades a pool. short: by machine, what is measured of it."""

    def run(
        pool: Pool, *, each: bool = True, short: dict[str, list[str]] | None = None, lacking: Sequence[str] = ()
    ) -> Stopped | None:
        def measured(_cluster: Any, _validation: Any, name: str, _say: Any, *, by: str) -> str:
            assert by == "upgrade"
            assert not pool.under_way, "nothing moves while a machine is measured"
            pool.did.append(f"measure {name}")
            return name

        holds = SimpleNamespace(
            hold=pool.hold, let_go=pool.let_go, release=pool.release, nodes=pool.nodes_held, budget=pool.budget
        )
        monkeypatch.setattr(machines, "Holds", lambda **_: holds)
        monkeypatch.setattr(machines, "measured_with_neighbour", measured)
        monkeypatch.setattr(machines, "shortfalls_of", lambda name: (short or {}).get(name, []))
        monkeypatch.setattr(machines, "lacks", lambda *_: lacking)
        monkeypatch.setattr("time.sleep", lambda _: None)
        work = PoolUpgrade(
            cluster=Cluster(client=cast("Any", pool), kubeconfig=""),
            aks=cast("Aks", pool),
            validation=validation(),
            target=TARGET,
            each=each,
            ready_seconds=0,
            say=lambda _: None,
            request=lambda: pool.upgrade_pool("ndh100", "1.36"),
        )
        return work.carried_out()

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


def test_a_machine_whose_node_is_away_while_it_is_reimaged_is_awaited_and_measured_before_the_next(run: Any) -> None:
    pool = Pool("a", "b", "c")
    pool.under_way, pool.provisioning, pool.held = True, "Upgrading", {"b", "c"}
    pool.nodes.pop("a")
    pool.away = {"a": pool._node("a", "1.36.3")}
    assert run(pool) is None
    assert [did for did in pool.did if did.startswith(("measure", "reimage"))] == [
        *("measure a", "reimage b", "measure b", "reimage c", "measure c"),
    ]


def test_somebody_else_stops_it(run: Any) -> None:
    pool = Pool("a", "b")
    pool.stops = True
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


def test_a_machine_that_does_not_become_as_its_pool_promises_stops_it_with_its_system(run: Any) -> None:
    stopped = run(Pool("a", "b"), lacking=["no driver"])
    assert (stopped.node, stopped.held, stopped.measured) == ("a", ["b"], None)
    assert stopped.shortfalls == ["no driver after 0 s, with kernel 6.8, containerd://2"]


def test_a_request_that_fails_when_all_machines_have_it_is_sent_again(run: Any) -> None:
    pool = Pool("a")
    pool.ends = ["Failed"]
    assert run(pool) is None
    assert pool.did == ["hold 1", "ask for 1.36", "reimage a", "measure a", "ask for 1.36"]
