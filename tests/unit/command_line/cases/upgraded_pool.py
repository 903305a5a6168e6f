"""A pool that `upgrade` takes through: its acts in their order."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

from aks_infiniband.diagnosis.holds import CORDONED_BY_VALIDATE
from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade import machines
from aks_infiniband_cli.machine_by_machine.upgrade.hold import STOPPED
from aks_infiniband_cli.machine_by_machine.upgrade.plan import Target
from aks_infiniband_cli.validate.run import Cluster

from tests.cases import Case
from tests.unit.command_line.validations import node as ready_node
from tests.unit.command_line.validations import validation

TARGET: Final = Target(kubernetes="1.36")


class Pool:
    """A pool in AKS, its nodes in Kubernetes, and the pods that hold them. The fake notes the actions on it."""

    def __init__(self, *names: str) -> None:
        self.nodes = {name: self._node(name, "1.35.8") for name in names}
        self.held: set[str] = set()
        self.count, self.away, self.looks = len(names), cast("dict[str, Any] | None", None), 0
        self.did: list[str] = []
        self.under_way = self.stopped = self.stops = False
        self.budget_reads, self.stops_at = 0, 0
        self.provisioning, self.ends, self.drains, self.quarantined = "Succeeded", list[str](), True, ""

    def _node(self, name: str, version: str) -> dict[str, Any]:
        made = ready_node(name)
        made["metadata"].setdefault("annotations", {})
        versions = {
            "kubeletVersion": f"v{version}",
            "kernelVersion": "6.8",
            "containerRuntimeVersion": "containerd://2",
        }
        made["status"]["nodeInfo"] = versions
        return made

    # The command's calls to Kubernetes.
    def list(self, kind: Any, **_: Any) -> Any:
        self.reimage()
        found = self.nodes.values() if kind.__name__ == "Node" else ()
        return [SimpleNamespace(to_dict=lambda each=each: each) for each in found]

    def get(self, _: Any, name: str, **__: Any) -> Any:
        return SimpleNamespace(to_dict=lambda: self.nodes[name])

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
        """AKS cordons the next machine, and gives it another system when nothing holds it; unless it cannot drain."""
        if not self.drains:
            self.under_way, self.provisioning = False, "Failed"
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
        if self.quarantined:
            self.nodes[self.quarantined]["metadata"]["annotations"][CORDONED_BY_VALIDATE] = "slow"
            self.nodes[self.quarantined]["spec"]["unschedulable"] = True

    def let_go(self, names: Any) -> Any:
        self.held -= {*names}
        return names

    def release(self) -> None:
        self.held.clear()

    def nodes_held(self) -> Sequence[str]:
        return sorted(self.held)

    def budget(self) -> Any:
        self.budget_reads += 1
        self.stopped |= self.budget_reads == self.stops_at
        return {"metadata": {"annotations": {STOPPED: "true"}}} if self.stopped else None


def acts_of_upgrade(case: Case) -> Any:
    """The acts of one command after another on a pool of `machines`. `away`: one is reimaged for an earlier command;
    `quarantined`: one that `validate --cordon` cordons while it is held; `stops`: a person stops it while machines are
    held, `stops_at`: before that read of the budget; `drains: false`: AKS cannot drain any; `ends`: the state after
    AKS's last request. `commands` have what is `short` by machine, what every changed one is `lacking`, and
    `first_only`.
    """
    pool = Pool(*case["machines"])
    pool.stops, pool.drains, pool.ends = case.get("stops", False), case.get("drains", True), [*case.get("ends", ())]
    pool.quarantined, pool.stops_at = case.get("quarantined", ""), case.get("stops_at", 0)
    if away := case.get("away"):
        pool.under_way, pool.provisioning, pool.held = True, "Upgrading", {*pool.nodes} - {away}
        pool.away = {pool.nodes.pop(away)["metadata"]["name"]: pool._node(away, "1.36.3")}
    return [_outcome(pool, command) for command in case.get("commands", [{}])]


def _outcome(pool: Pool, command: Case) -> dict[str, Any]:
    pool.did.clear()
    try:
        stopped, failed = _upgraded(pool, command), ""
    except CommandError as error:
        stopped, failed = None, str(error)
    found = {
        "failed": failed,
        "stopped": stopped and {"node": stopped.node, "shortfalls": stopped.shortfalls},
        "held": sorted(pool.held),
        "cordoned": [name for name, each in pool.nodes.items() if each["spec"].get("unschedulable")],
    }
    return {"acts": ", ".join(pool.did), "azure": pool.provisioning, **{key: it for key, it in found.items() if it}}


def _upgraded(pool: Pool, command: Case) -> machines.Stopped | None:
    def measured(_cluster: Any, _validation: Any, name: str, _say: Any, *, by: str) -> str:
        assert by == "upgrade"
        assert not pool.under_way, "nothing moves while a machine is measured"
        pool.did.append(f"measure {name}")
        return name

    holds = SimpleNamespace(
        hold=pool.hold, let_go=pool.let_go, release=pool.release, nodes=pool.nodes_held, budget=pool.budget
    )
    fakes: dict[str, Any] = {
        "Holds": lambda **_: holds,
        "measured_with_neighbour": measured,
        "shortfalls_of": lambda name: command.get("short", {}).get(name, []),
        "lacks": lambda *_: command.get("lacking", []),
    }
    with ExitStack() as patches:
        patches.enter_context(mock.patch("time.sleep"))
        for name, fake in fakes.items():
            patches.enter_context(mock.patch.object(machines, name, fake))
        return machines.PoolUpgrade(
            cluster=Cluster(client=cast("Any", pool), kubeconfig=""),
            aks=cast("Aks", pool),
            validation=validation(),
            target=TARGET,
            each=not command.get("first_only", False),
            ready_seconds=0,
            say=lambda _: None,
            request=lambda: pool.upgrade_pool("ndh100", "1.36"),
        ).carried_out()
