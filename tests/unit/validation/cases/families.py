"""The kinds of cases, and the outcome of a case of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.collective.judge import judge_collective
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.payload.rdma.judge import judge_contention
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.rdma.tasks import Task
from aks_infiniband.validation.pool_expectations import expectations

from tests.cases import Case, patched
from tests.unit.validation.collective_runs import EXPECTED, failure, run
from tests.unit.validation.fabric import Fabric
from tests.unit.validation.healthy import POOL, healthy

USUAL: Final = "usual"
"""Stands for the threshold that a figure has by default."""
NONE: Final = "none"
"""Stands for no thresholds at all."""
Outcome = dict[str, Any]


def outcome_of_nodes(case: Case) -> Outcome:
    """Facts of nodes: `nodes` has the differences from a healthy node, `pool` and `expected` those from the usual
    pool and from its expectations.
    """
    changes = {**case.get("pool", {})}
    options = {"node_preparation": changes.pop("node_preparation", False)}
    if "size" in changes:
        changes["size"] = SIZES[changes["size"]]
    expected = patched(_counted(expectations(POOL.changed(**changes), **options), case), case.get("expected", {}))
    facts: Any = {name: patched(healthy(), change) for name, change in case["nodes"].items()}
    found = judge_pool(facts, expected)
    sound: Any = {name: healthy() for name in case["nodes"]}
    return _differing(found, judge_pool(sound, _counted(expectations(POOL), case)))


def outcome_of_fabric(case: Case) -> Outcome:
    """A pool with an answer to every RDMA measurement. `fabric` has its nodes and HCAs, `wrong` the measurements
    that give other figures than good ones, `thresholds` the differences from the usual ones, `facts` those of nodes.
    """
    usual: Any = expectations(POOL)["thresholds"]
    change = case.get("thresholds", {})
    limits = {} if change == NONE else patched(usual, change)
    fabric, sound = (Fabric(case["fabric"]["nodes"], case["fabric"]["hcas"]) for _ in range(2))
    fabric.wrong = lambda task, attempt: next(
        (rule["gives"] for rule in case["wrong"] if _is_of(rule, task, attempt)), None
    )

    def judged(pool: Fabric, thresholds: Any) -> list[Any]:
        measured, checks = pool.judge(thresholds, case.get("tries", 3), case.get("facts"))
        return [*checks, *judge_contention(measured, thresholds)]

    return _differing(judged(fabric, limits), judged(sound, usual), usual)


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
    the two from a good run, `failures` those of each from a rank's usual failure, `expected` those from the usual plan.
    """
    ring, own = run(), run("nccl")
    made = patched(ring, case.get("run", {}))
    if "failures" in case:
        made["failures"] = [failure(**told) for told in case["failures"]]
    other = patched(own, case.get("own", {}))
    found = judge_collective({"runs": [made, other]}, patched(EXPECTED, case.get("expected", {})))
    usual = {"all-reduce": EXPECTED["thresholds"]["infiniband"], "all-reduce-small": EXPECTED["small"]}
    return _differing(found, judge_collective({"runs": [ring, own]}, EXPECTED), usual)


FAMILIES: Final[Mapping[str, Callable[[Case], Outcome]]] = {
    "nodes": outcome_of_nodes,
    "fabric": outcome_of_fabric,
    "run": outcome_of_run,
}
"""By the first word of a file's name, what gives the outcome of a case."""


def _counted(expected: Any, case: Case) -> Any:
    return {**expected, "node_count": len(case["nodes"])}


def _differing(found: Sequence[Any], well: Sequence[Any], usual: Case | None = None) -> Outcome:
    """The checks that are not among those of what is healthy, and the names that only those have."""
    here = {check["check"] for check in found}
    checks = _shown([check for check in found if check not in well], usual or {})
    lacks = [name for name in dict.fromkeys(check["check"] for check in well) if name not in here]
    return {**({"checks": checks} if checks else {}), **({"lacks": lacks} if lacks else {})}


def _shown(checks: Sequence[Any], usual: Case) -> list[dict[str, Any]]:
    """Checks with the keys that have a value; checks that differ in the device alone become one."""
    alike: dict[str, dict[str, Any]] = {}
    for check in checks:
        told = {key: value for key, value in check.items() if value is not None}
        if "threshold" in told and told["threshold"] == usual.get(told["check"]):
            told["threshold"] = USUAL
        if "tries" in told:
            told["tries"] = [made["error"] or made["value"] for made in told["tries"]]
        key = str({**told, "device": None})
        if key in alike and "device" in told:
            alike[key]["device"] += f", {told['device']}"
        else:
            alike[key] = told
    return list(alike.values())
