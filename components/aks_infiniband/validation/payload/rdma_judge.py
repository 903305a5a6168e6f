"""Checks of what the RDMA tools measured: who falls short of what, and why that may be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .checks import Check, Threshold, Thresholds, Try, falls_short, limit_of, make_check, not_measured
from .documents import FactsByNode
from .narrowing import Blame, End, Pair, blames
from .perftest import KINDS
from .rdma import Measured, PairTry


def judge_rdma(measured: Measured, thresholds: Thresholds, facts_by_node: FactsByNode) -> list[Check]:
    """Checks of every figure: one for all pairs where they are good, one for each end that is at fault else."""
    return [
        check
        for kind, tool in KINDS.items()
        for figure in tool.figures
        for check in _figure(measured, kind, figure, thresholds.get(figure), facts_by_node)
    ]


def unmeasured(cause: str | None, figures: Iterable[str] | None = None) -> list[Check]:
    """Checks of RDMA figures that were not measured; without a cause where nobody meant to measure them."""
    every = [figure for tool in KINDS.values() for figure in tool.figures]
    return [not_measured(figure, cause) for figure in (every if figures is None else figures)]


def _figure(
    measured: Measured,
    kind: str,
    figure: str,
    threshold: Threshold | None,
    facts_by_node: FactsByNode,
) -> list[Check]:
    tries = measured.tries[kind]
    values = {pair: ends[-1]["values"][figure] for pair, ends in tries.items() if ends[-1]["values"]}
    if not tries:
        cause = "time was up before (validation.timeoutSeconds), or no HCA is on two neighbouring nodes"
        return unmeasured(cause, [figure])
    bad = {pair for pair in tries if pair not in values or falls_short(values[pair], threshold)}
    good = [pair for pair in tries if pair not in bad]
    checks = _failures(measured, kind, figure, threshold, bad, facts_by_node)
    passing = {pair: values[pair] for pair in good if pair in values}
    if not passing:
        return checks
    warned = _warnings(measured, kind, figure, threshold, passing)
    if threshold is None:
        spread = _spread(passing.values())
        return [*checks, *warned, _made(figure, "not judged", threshold, measured=spread)]
    if not bad:
        checks.append(_made(figure, "pass", threshold, measured=_spread(passing.values())))
    return checks + warned


def _failures(
    measured: Measured,
    kind: str,
    figure: str,
    threshold: Threshold | None,
    bad: set[Pair],
    facts_by_node: FactsByNode,
) -> list[Check]:
    good = [pair for pair in measured.good(kind) if pair not in bad]
    owners = {pair: measured.owner(kind, pair) for pair in bad}
    unowned = {pair for pair in bad if owners[pair] is None}
    if not good and len(unowned) == len(bad) and len({end for pair in bad for end in pair}) > 2:
        return [_everybody(measured, kind, figure, threshold, bad)]
    found = [Blame(pair, (owner,)) for pair, owner in sorted(owners.items()) if owner is not None]
    found += [blame for blame in blames(sorted(unowned), good) if blame.pair not in measured.further[kind]]
    checks: dict[tuple[End, ...], list[Check]] = {}
    for blame in found:
        tries = measured.tries[kind][blame.pair]
        ends = tuple(sorted(blame.guilty)) or tuple(sorted(blame.pair))
        if ends in checks:
            continue
        verdict = (
            "fail" if not (tries[-1]["error"] and "could not be started" in tries[-1]["error"]) else "not measured"
        )
        checks[ends] = [
            _made(
                figure,
                verdict,
                threshold,
                place=end,
                measured=_last(tries, figure),
                cause=cause_of(blame, tries, facts_by_node),
                tries=_tries(tries, figure),
            )
            for end in ends
        ]
    return [check for group in checks.values() for check in group]


def _everybody(measured: Measured, kind: str, figure: str, threshold: Threshold | None, bad: set[Pair]) -> Check:
    """No pair is good: that is no one machine's fault."""
    tries = measured.tries[kind]
    first = tries[sorted(bad)[0]]
    errors = [made["error"] for pair in sorted(bad) for made in tries[pair][-1:] if made["error"]]
    values = [made["values"][figure] for pair in bad for made in tries[pair][-1:] if made["values"]]
    nodes = sorted({end.node for pair in bad for end in pair})
    whose = f"either of {' and '.join(nodes)}, or what they have in common" if len(nodes) == 2 else "no one machine's"
    cause = f"every pair falls short, so the fault is {whose}{': ' + likely(errors[0]) if errors else ''}"
    shown = errors[0] if errors and not values else _spread(values)
    return _made(figure, "fail", threshold, measured=shown, cause=cause, tries=_tries(first, figure))


def _warnings(
    measured: Measured, kind: str, figure: str, threshold: Threshold | None, passing: Mapping[Pair, float]
) -> list[Check]:
    tries = measured.tries[kind]
    checks = []
    for pair, value in passing.items():
        if falls_short(value, threshold, "warn"):
            cause = "less than to be expected, and not yet a failure"
        elif len(tries[pair]) > 1 and pair not in measured.further[kind]:
            cause = f"it took {len(tries[pair])} tries: measure again when the pool is idle"
        else:
            continue
        checks.append(
            _made(
                figure,
                "warn",
                threshold,
                place=pair.client,
                measured=value,
                cause=cause,
                tries=_tries(tries[pair], figure),
            )
        )
    return checks + _outliers(measured, kind, figure, threshold)


def _outliers(measured: Measured, kind: str, figure: str, threshold: Threshold | None) -> list[Check]:
    far = [pair for pair in measured.outliers(kind).get(figure, []) if pair not in measured.further[kind]]
    good = [pair for pair in measured.good(kind) if pair not in far]
    checks: dict[End, Check] = {}
    for blame in blames(far, good):
        end = blame.guilty[0] if len(blame.guilty) == 1 else blame.pair.client
        value = _last(measured.tries[kind][blame.pair], figure)
        cause = "far from what the pool's other HCAs show (median absolute deviation), though above the limit"
        checks.setdefault(end, _made(figure, "warn", threshold, place=end, measured=value, cause=cause))
    return list(checks.values())


def _made(
    figure: str,
    verdict: str,
    threshold: Threshold | None,
    *,
    place: Sequence[str | None] = (None, None),
    measured: object = None,
    cause: str | None = None,
    tries: list[Try] | None = None,
) -> Check:
    node, device = place
    return make_check(
        figure,
        verdict,
        node=node,
        device=device,
        expected=threshold and limit_of(threshold),
        measured=measured,
        cause=cause,
        unit=threshold["unit"] if threshold else None,
        threshold=threshold,
        tries=tries,
    )


def _spread(values: Iterable[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]:g}" if ordered[0] == ordered[-1] else f"{ordered[0]:g} to {ordered[-1]:g}"


def _last(tries: Sequence[PairTry], figure: str) -> float | None:
    return (tries[-1]["values"] or {}).get(figure)


def _tries(tries: Sequence[PairTry], figure: str) -> list[Try]:
    return [{"value": (made["values"] or {}).get(figure), "error": made["error"]} for made in tries]


_CAUSES = (
    (r"could not be started", "the image lacks the tool, and it could not be installed: name one that has it"),
    (
        r"Couldn't listen to port|Address already in use",
        "another program of the pod's network namespace listens on the port",
    ),
    (
        r"Couldn't (register|allocate) MR|Cannot allocate memory",
        "memory cannot be locked: the container lacks IPC_LOCK, or the memlock limit is too low",
    ),
    (
        r"device .*not found|Unable to find the Infiniband|Did not detect devices|No IB devices",
        "the tool does not find the HCA: its /dev/infiniband file is not in the pod, or the image has no mlx5 provider",
    ),
    (r"was killed$", "the tool hung without a word: the driver or the HCA does not answer (dmesg on the node)"),
    (
        r"did not end within|Completion with error|Failed status|retry exceeded|RTR",
        "packets do not arrive: a link that is down, another partition, or no route between the two",
    ),
    (r"Couldn't connect to|socket connection", "no server answered on the pod network: the peer's tool did not start"),
    (r"did not answer", "the node's pod has gone, or is still busy with something that hangs"),
)


def likely(error: str) -> str:
    """What lies behind an error of a tool."""
    return next((cause for pattern, cause in _CAUSES if re.search(pattern, error)), "the tool's own words say why")


def cause_of(blame: Blame, tries: Sequence[PairTry], facts_by_node: FactsByNode) -> str:
    """The likely cause of what a pair falls short of, in words."""
    error = tries[-1]["error"]
    why = f"{error}: {likely(error)}" if error else ""
    if len(blame.guilty) == 1:
        (end,) = blame.guilty
        link = _link(end, facts_by_node)
        others = f"it falls short with {' and '.join(blame.peers)}, whose HCAs do not fall short with others"
        return "; ".join(part for part in (why, link, others if blame.peers else "") if part)
    client, server = (f"{end.node} ({end.device})" for end in blame.pair)
    if blame.guilty:
        which = f"{client} or {server}: there is no third HCA that would tell them apart"
        return "; ".join(part for part in (why, which) if part)
    path = f"the path between {client} and {server}: both are good with others (a cable or port of a switch)"
    return "; ".join(part for part in (why, path) if part)


def _link(end: End, facts_by_node: FactsByNode) -> str:
    """What the port itself says, where it differs from its siblings."""
    hcas = facts_by_node[end.node]["hcas"] if end.node in facts_by_node else []
    mine = next((hca for hca in hcas if hca["device"] == end.device), None)
    rates = [hca["rate_gbps"] for hca in hcas if hca["rate_gbps"] is not None]
    if mine is None or not rates or mine["rate_gbps"] == max(rates):
        return ""
    return f"its link runs at {mine['rate_gbps']:g} Gb/s, the node's others at {max(rates):g}"
