"""A plan before anything is done, and the history of what was, for a terminal, a pipe and a program."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aks_infiniband_cli.console import FINE, FOUND, Answer, lines_of
from aks_infiniband_cli.machine_by_machine.replace.beginning import Plan
from aks_infiniband_cli.machine_by_machine.replace.case import Case, shown
from aks_infiniband_cli.machine_by_machine.replace.decision import FEWEST
from aks_infiniband_cli.machine_by_machine.replace.measuring import NEIGHBOURS
from aks_infiniband_cli.machine_by_machine.replace.replacing import Wish

_STYLES: Mapping[str | None, str] = {"cured": "green", "replaced": "green", "let in": "yellow", None: "yellow"}
_WHOLE = ("cured", "replaced")


def plan(planned: Plan, wish: Wish) -> Answer:
    """The plan. The exit code is FOUND if it would not be begun."""
    document = {
        "node": planned.case.node,
        "pool": planned.case.pool,
        "stage": planned.case.stage,
        "refused": planned.refused or None,
        "healthy": list(planned.seen.healthy),
        "machines": planned.seen.count,
        "begun_today": planned.begun_today,
    }
    return _answer({"plan": document, "cases": []}, [*_plan(planned, wish)], FOUND if planned.refused else FINE)


def _plan(planned: Plan, wish: Wish) -> Iterator[tuple[str, str]]:
    case, seen = planned.case, planned.seen
    yield f"{case.node} of pool {case.pool}: what replace would do", ""
    for number, (stage, what) in enumerate(_steps(planned, wish), start=1):
        over = "" if case.stage == "quarantine" else " (begun)" if stage == case.stage else ""
        yield f"  {number} {stage:<11} {what}{over}", ""
    if case.farthest == "delete" and not seen.autoscaled and seen.count:
        left = seen.count - 1
        yield (
            f"at risk: Azure promises no other machine. Deleting it may leave you with {left} of {seen.count}",
            "yellow",
        )
    yield (
        f"other healthy nodes: {len(seen.healthy)}, {len(seen.idle)} of them idle; {FEWEST} must be idle. "
        f"In the last 24 hours {planned.begun_today} of this pool were taken out, of {wish.budget.a_day} that may be",
        "",
    )
    if planned.refused:
        yield f"it would not be begun: {planned.refused}", "bold red"
    yield "nothing was changed", "green"


def _steps(planned: Plan, wish: Wish) -> Iterator[tuple[str, str]]:
    case, seen = planned.case, planned.seen
    beside = ", ".join(seen.idle[:NEIGHBOURS]) or "healthy nodes, once they are idle"
    yield "quarantine", "cordon and taint it; its pods keep running"
    if used := seen.busy or seen.alone:
        how = "wait until no pod uses it" if case.drain == "wait" else "evict its pods"
        yield "empty", f"{how}: {used}"
    else:
        yield "empty", f"evict what else runs there: {seen.others}" if seen.others else "no pod uses it"
    yield "evidence", f"keep evidence-{case.node}-{case.id}.json in {wish.folder}"
    yield "restart", f"once; then measure it with {beside}, and uncordon it if it passes"
    if case.farthest != "restart":
        yield "redeploy", "if it is still bad: Azure puts it on another host; then measure it again"
    if case.farthest == "delete" and seen.autoscaled:
        yield "delete", "not done: the cluster autoscaler counts this pool, and brings no machine back by itself"
    elif case.farthest == "delete":
        yield "delete", f"if it is still bad: AKS deletes the machine, and scales the pool to {seen.count} again"
        yield "arrive", "wait for the new one's drivers, measure it, and uncordon it if it passes"


def refused(planned: Plan) -> Answer:
    """The reason why the case was not begun."""
    document = {"plan": {"node": planned.case.node, "pool": planned.case.pool, "refused": planned.refused}, "cases": []}
    return _answer(document, [(f"not begun: {planned.refused}", "bold red")], FOUND)


def done(cases: Sequence[Case]) -> Answer:
    """The finished cases. The exit code is FOUND if a pool is not whole."""
    lines = [line for case in cases for line in _case_lines(case)]
    whole = all(case.outcome in _WHOLE for case in cases)
    document = {"plan": None, "cases": [shown(case) for case in cases]}
    return _answer(document, lines or [("nothing was to be done", "green")], FINE if whole else FOUND)


def stopped(cases: Sequence[Case]) -> Answer:
    """The cases that were stopped."""
    lines = [(f"stopped: {case.node}, at the stage {case.stage}; it stays in quarantine", "yellow") for case in cases]
    for case in cases:
        lines.append((f"  go on: aks-infiniband replace {case.node}", "cyan"))
        lines.append((f"  release it: aks-infiniband replace --release {case.subject}", "cyan"))
    document = {"plan": None, "cases": [shown(case) for case in cases]}
    return _answer(document, lines or [("nothing was under way", "")], FINE)


def released(node: str, name: str | None) -> Answer:
    """The result for a node that was admitted, or did not need it."""
    said = f"let in: {name}" if name else f"{node} is not in a quarantine of this command"
    return _answer({"plan": None, "cases": [], "released": name}, [(said, "green")], FINE)


def _case_lines(case: Case) -> Iterator[tuple[str, str]]:
    """Each line of a case, and its style on a terminal."""
    yield case.told(), _STYLES.get(case.outcome, "bold red")
    for line in case.lines:
        yield f"  {line.at}  {line.step:<12}  {line.what}".rstrip(), ""
    if case.outcome is None:
        yield f"  go on: aks-infiniband replace {case.node}", "cyan"
    elif case.outcome not in (*_WHOLE, "let in"):
        yield f"  release it all the same: aks-infiniband replace --release {case.subject}", "cyan"


def _answer(document: Mapping[str, Any], lines: Sequence[tuple[str, str]], exit_code: int) -> Answer:
    return Answer(document=document, lines=lines_of(*lines), exit_code=exit_code)
