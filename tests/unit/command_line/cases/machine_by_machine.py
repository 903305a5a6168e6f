"""Decisions of `rollout`, `upgrade` and `replace`. All that a case does not have is as in a healthy pool."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from aks_infiniband.facts.releases import DEFAULT_RELEASE
from aks_infiniband.validation.kept import REPLACED
from aks_infiniband_cli.azure.cluster import ClusterThere, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.replace import beginning, decision
from aks_infiniband_cli.machine_by_machine.replace.case import Case as Replaced
from aks_infiniband_cli.machine_by_machine.replace.decision import Budget, Seen
from aks_infiniband_cli.machine_by_machine.replace.drain import described, leaving, uncontrolled
from aks_infiniband_cli.machine_by_machine.replace.history import Read, read_in
from aks_infiniband_cli.machine_by_machine.replace.measuring import blamed, counted, missing, problems, unblamed
from aks_infiniband_cli.machine_by_machine.replace.observing import differs
from aks_infiniband_cli.machine_by_machine.replace.quarantine import how_held
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight, unhealthy
from aks_infiniband_cli.machine_by_machine.rollout import gate
from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS, Loaded
from aks_infiniband_cli.machine_by_machine.upgrade import decision as upgrading
from aks_infiniband_cli.machine_by_machine.upgrade import plan
from aks_infiniband_cli.machine_by_machine.upgrade.breaks import blocking, breaks

from tests.cases import Case, patched
from tests.unit.command_line.cases.azure_requests import progress_of_request
from tests.unit.command_line.cases.rolled_out import outcome_of_rollouts
from tests.unit.command_line.cases.upgraded_pool import acts_of_upgrade
from tests.unit.command_line.validations import node, validation
from tests.unit.command_line.validations import pod as usual_pod

BEGUN: Final = "2026-11-25T10:00:00+00:00"
OTHERS: Final = ("b", "c", "d")
WHOLE: Final = Seen(boot="1", healthy=OTHERS, idle=OTHERS, count=16)
_HELD: Final = {(False, False): "", (True, False): "cordon", (False, True): "taint", (True, True): "cordon and taint"}
IMAGE: Final = "AKSUbuntu-2404gen2containerd-202610.27.0"


def replaced(**known: Any) -> Replaced:
    """A case of `replace`."""
    usual: dict[str, Any] = {"id": "i", "node": "a", "pool": "hb", "resource": "/x", "agent_pool": "hb"}
    return Replaced(**{**usual, "begun": BEGUN, "why": "w", "boot": "1", **known})


def step_of_replace(case: Case) -> Any:
    """The next step. `known` has the facts of the machine's case, `seen` those of now."""
    found = decision.next_step(replaced(**case.get("known", {})), replace(WHOLE, **case.get("seen", {})))
    return _filled(asdict(found))


def refusal_of_replace(case: Case) -> Any:
    """The reason not to take a machine out. `others` are being replaced, `begun_today` were begun."""
    others, budget = [replaced()] * case.get("others", 0), Budget(at_once=1, a_day=3)
    return decision.refusal(
        replaced(), others, replace(WHOLE, **case.get("seen", {})), budget, case.get("begun_today", 0)
    )


def pool_of_replace(case: Case) -> Any:
    """A view of a pool. `nodes` and `pods` have the differences from healthy ones, `events` those from a
    repair by AKS; `but` are nodes that do not count, `beside` those that are measured with node a.
    """
    sight = _sight(case)
    found = {
        name: _filled(
            {
                "lacks": sight.lacks(each),
                "serves not": not sight.serves(each),
                "azure": sight.azure(each),
                "busy": sight.busy(name),
                "used": sight.used(name, case.get("beside", ())),
                "held": _HELD[how_held(each)],
            }
        )
        for name in case["nodes"]
        if (each := sight.node(name))
    }
    healthy = sight.healthy(case.get("but", ()))
    return {**_filled(found), "healthy": healthy, "idle": sight.idle(healthy)}


def unhealthy_of_replace(case: Case) -> Any:
    """The nodes that the light check calls unhealthy. `since`: when nodes were last admitted."""
    return unhealthy(_sight(case).of_pool(), case.get("since", {}))


def contradictions_of_replace(case: Case) -> Any:
    """The contradictions between a machine's case and its subject. `machines`: AKS's names by the resource ID."""
    return differs(replaced(**case.get("known", {})), _sight(case), case.get("machines", {}))


def lost_by_replace(case: Case) -> Any:
    """The reason to leave a pool alone, because a case of it was lost. `history` says what was read of it."""
    read = {**case.get("history", {})}
    cases = [replaced(**each) for each in read.pop("cases", ())]
    return beginning._lost(Read(cases=cases, **read), _sight(case))


def leaving_for_replace(case: Case) -> Any:
    """The pods that leave node a, and those of them that no controller makes again. `pods` by name."""
    leave = leaving(_pods(case), "a")
    return {"leave": described(leave), "alone": described(uncontrolled(leave))}


def report_for_replace(case: Case) -> Any:
    """The words of a report on node a. `checks` differ from a good bandwidth; nodes a and b took part."""
    usual = {"check": "rdma-write-bandwidth", "device": "mlx5_0", "measured": 98.3, "unit": "Gb/s"}
    checks = [{**usual, "node": None, "tries": None, "cause": None, **each} for each in case["checks"]]
    report: Any = {"checks": checks, "nodes": {"a": {}, "b": {}}}
    return {"problems": problems(report, "a"), **_filled({"others": blamed(report, "a"), "unnamed": unblamed(report)})}


def devices_for_replace(case: Case) -> Any:
    """The devices that a machine lacks by its own count, or the words on that: `hcas` and `gpus` that it counts of 8
    each.
    """
    machine: dict[str, list[Any]] = {key: [{}] * number for key, number in case.items() if key in ("hcas", "gpus")}
    expected = {"hcas": {"count": 8}, "gpus": {"count": case.get("promised", 8)}}
    return missing(machine, expected) or counted(machine, expected)


def history_of_replace(case: Case) -> Any:
    """The history that is read if a case of it has `changed`."""
    documents = [{**asdict(replaced()), **case["changed"]}, asdict(replaced(id="j"))]
    text = json.dumps({"schema_version": 1, "stopped": "", "cases": documents})
    found = read_in({"data": {REPLACED.key: text}})
    return {"read": [each.id for each in found.cases], "unread": found.unread}


def step_of_upgrade(case: Case) -> Any:
    """The next step of a pool's upgrade. `machines` have the differences from one with the old system; `first_only`:
    the others follow unmeasured.
    """
    machines = [upgrading.Machine(name=name, **known) for name, known in case["machines"].items()]
    seen = upgrading.Seen(machines=machines, **{"count": len(machines), **case.get("pool", {})})
    return _filled(asdict(upgrading.next_step(seen, each=not case.get("first_only", False))))


def plan_of_upgrade(case: Case) -> Any:
    """The plan of an upgrade to Kubernetes `to` or to node image `image`. `control_plane`: its version; `offered`: the
    versions that AKS lets follow. `pools` have the differences from one of Kubernetes 1.35.8, with the versions or
    images of their `nodes`; `measured`: those that are.
    """
    version, wanted = case.get("control_plane", "1.35.8"), case.get("to")
    there = cluster_there(version, {name: pool_there(name, **changes) for name, changes in case["pools"].items()})
    nodes = {name: [*_nodes_of_pool(name, changes)] for name, changes in case["pools"].items()}
    targets = dict.fromkeys(there.pools, plan.Target(kubernetes=wanted, image=case.get("image")))
    try:
        steps = [
            *(plan.control_plane(there, wanted, case.get("offered", ["1.35.9", "1.36.3"])) if wanted else ()),
            *plan.pools(there, targets, nodes, case.get("measured", ())),
        ]
        plan.refuse_many_at_once(there, steps)
    except CommandError as error:
        return f"refused: {error}"
    shown = [
        f"{step.kind} {step.name}: {step.machines} from {step.before} to {step.target}, {step.minutes} min"
        for step in steps
    ]
    return {"steps": shown, "breaks": list(breaks(there, steps, DEFAULT_RELEASE))}


def cluster_there(version: str, pools: Mapping[str, PoolThere]) -> ClusterThere:
    """A cluster in Azure, of a version of Kubernetes."""
    asked = version.rpartition(".")[0]
    return ClusterThere(version=version, asked=asked, location="southcentralus", state="Succeeded", pools=pools)


def pool_there(name: str, *, nodes: Any = (), **changes: Any) -> PoolThere:
    """A pool in Azure, of Kubernetes 1.35.8. nodes: for `_nodes_of_pool`."""
    usual: Any = {"name": name, "system": False, "version": "1.35.8", "asked": "1.35", "image": IMAGE, "count": 2}
    usual |= {"state": "Succeeded", "os_sku": "Ubuntu", "surges": False, "at_once": "1"}
    return PoolThere(**{**usual, **changes})


def _nodes_of_pool(pool: str, changes: Case) -> Iterator[dict[str, Any]]:
    for number, has in enumerate(changes.get("nodes", ["1.35.8", "1.35.8"])):
        is_version = has[0].isdigit()
        version = has if is_version else "1.35.8"
        labels = {"kubernetes.azure.com/node-image-version": "old" if is_version else has}
        info = {"nodeInfo": {"kubeletVersion": f"v{version}"}}
        yield {"metadata": {"name": f"{pool}-{number}", "labels": labels}, "spec": {}, "status": info}


def budgets_in_upgrade(case: Case) -> Any:
    """The budgets of others that block a drain of node a. `budget` has the differences from one that does."""
    budget = {
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}},
        "status": {"disruptionsAllowed": 0},
    }
    pod = {"metadata": {"name": "db-0", "namespace": "shop", "labels": {"app": "db"}}, "spec": {"nodeName": "a"}}
    pods = [patched(pod, case.get("pod", {}))]
    return list(blocking([patched(budget, case.get("budget", {}))], pods, [node("a")]))


def step_of_rollout(case: Case) -> Any:
    """The next step with the node that gets a driver first. `driver`: the image or revision that it has then; `newest`:
    the revision of the operator's template.
    """
    before = Loaded("old", "1", "operator")
    now = before._replace(**case.get("driver", {}))
    newest = case.get("newest", now.revision)
    step = gate.next_step(before, now, case.get("lacking", ()), failed=case.get("failed", False), newest=newest)
    return _filled(asdict(step))


def first_of_rollout(case: Case) -> Any:
    """The first node. `drivers`: the nodes with the driver of the operator `of`; `first`: the one that a user names."""
    driver = DRIVERS[case.get("of", "nic")]
    loaded = dict.fromkeys(case.get("drivers", case["nodes"]), Loaded("old", "1", "operator"))
    nodes = list(_sight(case).nodes)
    try:
        return gate.first_node({"ndh100": validation()}, nodes, _pods(case), driver, case.get("first"), loaded)[1]
    except CommandError as error:
        return f"refused: {error}"


def _sight(case: Case) -> Sight:
    events = [patched(_repair(), change) for change in case.get("events", ())]
    nodes = [patched(_node(name), change) for name, change in case["nodes"].items()]
    return Sight(validation=validation(), nodes=nodes, pods=_pods(case), events=events)


def _node(name: str) -> dict[str, Any]:
    found = node(name)
    found["metadata"]["labels"]["kubernetes.azure.com/agentpool"] = "hb"
    found["spec"]["providerID"] = "azure:///x"
    return found


def _pods(case: Case) -> list[dict[str, Any]]:
    """Pods of a tenant on node a, and `driver`, which is one of the Network Operator's that is not ready."""
    return [
        patched(_driver() if name == "driver" else usual_pod(name, "a"), change)
        for name, change in case.get("pods", {}).items()
    ]


def _driver() -> dict[str, Any]:
    found = usual_pod("mofed", "a")
    owner = {"kind": "DaemonSet", "name": "mofed", "controller": True}
    labels = {"nvidia.com/ofed-driver": ""}
    found["metadata"] |= {"namespace": "network-operator", "labels": labels, "ownerReferences": [owner]}
    found["status"]["containerStatuses"] = [{"ready": False}]
    return found


def _repair() -> dict[str, Any]:
    return {
        "metadata": {"name": "e", "namespace": "default"},
        "reason": "NodeRebootStart",
        "message": "rebooting",
        "involvedObject": {"kind": "Node", "name": "a"},
        "source": {"component": "aks-auto-repair"},
        "lastTimestamp": "2026-11-25T10:00:00Z",
    }


def _filled(document: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a document that have a value."""
    return {key: value for key, value in document.items() if value}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "replacement": step_of_replace,
    "replacement_refused": refusal_of_replace,
    "replacement_pool": pool_of_replace,
    "replacement_unhealthy": unhealthy_of_replace,
    "replacement_contradicted": contradictions_of_replace,
    "replacement_lost": lost_by_replace,
    "replacement_drained": leaving_for_replace,
    "replacement_measured": report_for_replace,
    "replacement_devices": devices_for_replace,
    "replacement_requests": progress_of_request,
    "replacement_read": history_of_replace,
    "upgrade": step_of_upgrade,
    "upgrade_acts": acts_of_upgrade,
    "upgrade_plan": plan_of_upgrade,
    "upgrade_budgets": budgets_in_upgrade,
    "rollout": step_of_rollout,
    "rollout_commands": outcome_of_rollouts,
    "rollout_first": first_of_rollout,
}
"""By the first word of a file's name, what gives the outcome of a case."""
