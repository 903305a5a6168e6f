"""The kinds of cases, and the outcome of a case of each."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.collective import nvlink
from aks_infiniband.validation.payload.collective.failures import with_names
from aks_infiniband.validation.payload.collective.judge import as_try, falls_short, judge_collective
from aks_infiniband.validation.payload.collective.nccl_log import NVLINK
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.payload.look.judge_nvlink import judge_nvlink
from aks_infiniband.validation.payload.rdma.judge import judge_contention, judge_coverage
from aks_infiniband.validation.payload.rdma.measuring import rows
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.rdma.tasks import Task
from aks_infiniband.validation.payload.say.steadiness import spread_of
from aks_infiniband.validation.pool_expectations import collective_expectations, expectations

from tests.cases import Case, patched
from tests.unit.validation.cases import (
    awaiting,
    calling,
    checking,
    declaring,
    expecting,
    installing,
    leaving,
    loading,
    narrowing,
    pairing,
    reading,
    remembering,
    telling,
    watching,
)
from tests.unit.validation.cases.checks import Outcome, differing, shown
from tests.unit.validation.collective_runs import ADDRESSES, EXPECTED, NODES, failure, run
from tests.unit.validation.fabric import Fabric
from tests.unit.validation.healthy import POOL, healthy

NONE: Final = "none"
"""Stands for no thresholds at all."""


def outcome_of_nodes(case: Case) -> Outcome:
    """Facts of nodes: `nodes` has the differences from a healthy node, `pool` and `expected` those from the usual
    pool and from its expectations. `whole`: all checks.
    """
    changes = {**case.get("pool", {})}
    options = {"node_preparation": changes.pop("node_preparation", False)}
    if "size" in changes:
        changes["size"] = SIZES[changes["size"]]
    expected = patched(_counted(expectations(POOL.changed(**changes), **options), case), case.get("expected", {}))
    facts: Any = {name: patched(healthy(), change) for name, change in case["nodes"].items()}
    sound: Any = {name: healthy() for name in case["nodes"]}
    well = [] if case.get("whole") else judge_pool(sound, _counted(expectations(POOL), case))
    return differing(judge_pool(facts, expected), well)


def outcome_of_fabric(case: Case) -> Outcome:
    """A pool with an answer to every RDMA measurement. `fabric` has its nodes and HCAs, `wrong` the measurements
    that give other figures than good ones, `thresholds` the differences from the usual ones, `facts` those of nodes.
    `time` has the seconds that are left, that a step takes and may take; `silent` has the steps from which on nodes
    say nothing. `shows`: a figure, alone and side by side, and the numbers of steps.
    """
    usual: Any = expectations(POOL)["thresholds"]
    change = case.get("thresholds", {})
    limits = {} if change == NONE else patched(usual, change)
    fabric, sound = (Fabric(case["fabric"]["nodes"], case["fabric"]["hcas"]) for _ in range(2))
    vars(fabric).update(case.get("time", {}), silent=case.get("silent", {}))
    fabric.wrong = lambda task, attempt: next(
        (rule["gives"] for rule in case["wrong"] if _is_of(rule, task, attempt)), None
    )
    measured, checks = fabric.judge(limits, case.get("tries", 3), case.get("facts"))
    checks += judge_contention(measured, limits)
    if "time" in case:
        seen: Any = {node: {"hcas": [{"device": each} for each in rails]} for node, rails in fabric.rails.items()}
        checks.append(judge_coverage(measured, seen))
    well, good = sound.judge(usual, case.get("tries", 3), case.get("facts"))
    outcome = differing(checks, [*good, *judge_contention(well, usual)], usual)
    if "shows" in case:
        pairs = [(row["value"], row.get("side_by_side")) for row in rows(measured) if row["figure"] == case["shows"]]
        kinds = ("side_by_side", "rail", "pairs")
        steps = {kind: sum(kind in step for step in fabric.steps) for kind in kinds}
        outcome.append({"alone and side by side": list(dict.fromkeys(pairs)), "steps": steps})
    return outcome


def _is_of(rule: Case, task: Task, attempt: int) -> bool:
    """True if a rule is about a measurement."""
    ends = {End(*end.split()) for end in rule.get("ends", ())}
    return (
        rule.get("kind", task.kind) == task.kind
        and rule.get("attempt", attempt) == attempt
        and rule.get("side_by_side", task.side_by_side) == task.side_by_side
        and (not ends or bool(ends & {*task.pair}))
        and rule.get("client", "{} {}".format(*task.pair.client)) == "{} {}".format(*task.pair.client)
    )


def outcome_of_run(case: Case) -> Outcome:
    """A run of the all-reduce in a ring, before a run with NCCL's own choice. `run` and `own` have the differences of
    the two from a good run, `failures` those of each from a rank's usual failure, `expected` those from the usual plan;
    `given` is what the stack file has in place of the limits of two H100. `whole`: all checks.
    """
    ring, own = run(), run("nccl")
    other = patched(own, case.get("own", {}))
    expected = patched(EXPECTED, case.get("expected", {}))
    if "given" in case:
        expected = collective_expectations(POOL, {name: GivenThreshold(**each) for name, each in case["given"].items()})
    checks = judge_collective({"runs": [_run(case), other]}, expected)
    usual = {"all-reduce": EXPECTED["thresholds"]["infiniband"], "all-reduce-small": EXPECTED["small"]}
    well = judge_collective({"runs": [ring, own]}, EXPECTED)
    return differing(checks, [] if case.get("whole") else well, usual)


def _run(case: Case) -> Any:
    """The run of a case; the repetitions of a size are a list."""
    made = patched(run(), case.get("run", {}))
    made["sizes"] = [
        {key: spread_of(value) if key == "spread" else value for key, value in size.items()} for size in made["sizes"]
    ]
    if "failures" in case:
        made["failures"] = [with_names(failure(**told), ADDRESSES) for told in case["failures"]]
    return made


def outcome_of_again(case: Case) -> dict[str, Any]:
    """A run as above: is it made again, and how it is shown as a try."""
    return {"again": falls_short(_run(case), EXPECTED), "try": as_try(_run(case), EXPECTED)}


def outcome_of_racks(case: Case) -> Outcome:
    """GPUs of nodes in NVLink domains: `domains` has names of nodes by domain, `nodes` the differences from nodes
    with four GPUs that the fabric has taken in; nodes that pass are left out. `run`: those of a run over NVLink.
    """
    if "run" in case:
        limit = {"unit": "GB/s", "better": "higher", "fail": 534.0, "basis": "measured"}
        plan: Any = {"thresholds": {"nvlink": limit}}
        return shown(nvlink.judge([patched(run(transports=dict.fromkeys(NODES, NVLINK)), case["run"])], plan), limit)
    usual = {"gpus": ["Completed, Success"] * 4, "said": None}
    nodes = {name: {**usual, "domain": domain} for domain, names in case["domains"].items() for name in names.split()}
    facts: Any = {name: {"nvlink": patched(own, case.get("nodes", {}).get(name, {}))} for name, own in nodes.items()}
    return shown([each for each in judge_nvlink(facts, 4, 18) if each["verdict"] != "pass" or not each["node"]], {})


def _counted(expected: Any, case: Case) -> Any:
    return {**expected, "node_count": len(case["nodes"])}


_MODULES: Final = (
    awaiting,
    calling,
    checking,
    declaring,
    expecting,
    installing,
    leaving,
    loading,
    narrowing,
    pairing,
    reading,
    remembering,
    telling,
    watching,
)
FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "nodes": outcome_of_nodes,
    "fabric": outcome_of_fabric,
    "run": outcome_of_run,
    "again": outcome_of_again,
    "racks": outcome_of_racks,
    **{word: family for module in _MODULES for word, family in module.FAMILIES.items()},
}
"""By the first word of a file's name, what gives the outcome of a case."""
