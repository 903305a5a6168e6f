"""The answer of the command: what was measured, what is worse, and which nodes were cordoned."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from aks_infiniband.validation.membership import Membership
from aks_infiniband.validation.reports import Report, headline, kinds_of, passed, table, verdict_of

from aks_infiniband_cli.console import Answer, exit_code_of, lines_of
from aks_infiniband_cli.test_results.cases import Suite, suite
from aks_infiniband_cli.validate.comparison import Change
from aks_infiniband_cli.validate.nodes import LeftOut

NOT_MEASURED: Final = "not measured"
_MOST_ROWS: Final = 20
_STYLES: Final = {"pass": "green", "warn": "yellow", NOT_MEASURED: "yellow"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """The result of one pool."""

    name: str
    nodes: Sequence[str]
    """That were measured."""
    left_out: Sequence[LeftOut]
    report: Report | None
    members: Membership
    """The expected and the present nodes of the pool."""
    in_part: bool = False
    """The user named only some of its nodes, so what other nodes lack is reported but not judged."""
    why: Sequence[str] = ()
    """The reasons why a report is absent."""
    before: str | None = None
    """When the earlier measurement was made."""
    changes: Sequence[Change] = ()
    unmanaged: Mapping[str, Any] | None = None
    """The way in which a pool that no stack validates was measured; None for a stack's."""

    @property
    def verdict(self) -> str:
        """That of the checks, which the Job of an older release may have summed up otherwise. Not a pass if a machine
        is gone, or if an idle one could not be measured.
        """
        verdict = verdict_of(self.report["checks"]) if self.report else NOT_MEASURED
        if verdict == "fail" or (self.members.missing and not self.in_part):
            return "fail"
        return NOT_MEASURED if any(not left.busy for left in self.left_out) else verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The actions of the command."""

    pools: Sequence[Pool] = ()
    cordoned: Mapping[str, str] = field(default_factory=dict)
    not_cordoned: Mapping[str, str] = field(default_factory=dict)
    """By node that should have been, what the cluster said."""
    uncordoned: Mapping[str, str] = field(default_factory=dict)


def answer(outcome: Outcome) -> Answer:
    """FOUND if a pool fails or warns, else UNMEASURED if one was not measured."""
    document = {
        "pools": {pool.name: document_of(pool) for pool in outcome.pools},
        "cordoned": dict(outcome.cordoned),
        "not_cordoned": dict(outcome.not_cordoned),
        "uncordoned": dict(outcome.uncordoned),
    }
    exit_code = exit_code_of(pool.verdict for pool in outcome.pools)
    return Answer(document=document, lines=lines_of(*_lines(outcome)), exit_code=exit_code)


def document_of(pool: Pool) -> dict[str, Any]:
    """For programs: one pool."""
    compared = {"finished": pool.before, "figures": [asdict(change) for change in pool.changes]}
    return {
        "verdict": pool.verdict,
        "measured_on": pool.report["finished"] if pool.report else None,
        "nodes": list(pool.nodes),
        "kinds": kinds_of(pool.report["checks"]) if pool.report else [],
        "pool_nodes": pool.members.expected,
        "missing": {"nodes": pool.members.missing, "names": list(pool.members.gone), "seen": pool.members.reported},
        "left_out": [{"node": left.node, "why": left.why, "busy": left.busy} for left in pool.left_out],
        "why": list(pool.why),
        "compared_with": compared if pool.before else None,
        "without_stack": pool.unmanaged,
        "report": pool.report,
    }


def _lines(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Each line, and its style on a terminal."""
    for pool in outcome.pools:
        yield from pool_lines(pool)
    for node, why in outcome.cordoned.items():
        yield f"cordoned {node}:", "bold red"
        yield from ((f"  {part}", "bold red") for part in why.split("; "))
    if outcome.cordoned:
        yield f"  undo: aks-infiniband validate --uncordon {_flags(outcome.cordoned)}", "cyan"
    for node, why in outcome.not_cordoned.items():
        yield f"could not cordon {node}: {why}", "bold red"
    for node, why in outcome.uncordoned.items():
        yield f"uncordoned {node}, which was cordoned for", "green"
        yield from ((f"  {part}", "green") for part in why.split("; "))
    if not outcome.pools and not outcome.uncordoned:
        yield "no node is cordoned by this command", ""


def suite_of(pool: Pool) -> Suite:
    """A pool as a suite of test cases."""
    told = (_headline(pool), *pool.why, *(line for line, _ in _lacks(pool)))
    return suite(pool.name, pool.verdict, told, pool.report)


def pool_lines(pool: Pool) -> Iterator[tuple[str, str]]:
    """Each line of a pool, and its style on a terminal."""
    yield _headline(pool), _STYLES.get(pool.verdict, "bold red")
    if pool.report is None:
        for line in pool.why:
            yield f"  {line}", ""
    else:
        yield f"{passed(pool.report['checks'])}; measured: {', '.join(pool.nodes)}", ""
        yield from ((line, "") for line in table(pool.report["checks"], most_rows=_MOST_ROWS))
    if pool.changes:
        yield f"compared with {pool.before}:", ""
        yield from _table(pool.changes)
    yield from _lacks(pool)


def _headline(pool: Pool) -> str:
    if pool.report is None:
        return f"pool {pool.name}: {pool.verdict}"
    return headline({**pool.report, "verdict": pool.verdict})


def _lacks(pool: Pool) -> Iterator[tuple[str, str]]:
    """The nodes that are missing or were left out."""
    if lacks := pool.members.told():
        yield lacks, "yellow" if pool.in_part else "bold red"
    for left in pool.left_out:
        yield f"left out: {left.node}: {left.why}", "yellow"


def _table(changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    cells = [
        (c.figure, f"{c.before:g}", f"{c.now:g} {c.unit}", f"{c.change_percent:+g} %", "worse" if c.worse else "")
        for c in changes
    ]
    rows = [("FIGURE", "BEFORE", "NOW", "CHANGE", ""), *cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield f"  {line}", "bold red" if row[-1] else ""


def _flags(nodes: Mapping[str, str]) -> str:
    return shlex.join(word for node in nodes for word in ("--node", node))
