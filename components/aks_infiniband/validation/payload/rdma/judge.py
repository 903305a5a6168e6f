"""Checks of the RDMA tools' figures: the ends that fall short, the likely cause, and the paths that HCAs share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..look.node import FactsByNode
from ..programs.endings import NETWORK
from ..say.checks import Check, compared, judged, make_check, not_measured, passes
from ..say.expectations import Threshold, Thresholds, falls_short
from ..say.lines import spread
from ..talk.time_left import TIME_IS_UP
from .causes import behind, cause_of, verdict_by
from .measuring import Measured, tries_of
from .narrowing import LEAST_SHARE, Blame, End, Pair, blames
from .tools import KINDS


def judge_rdma(measured: Measured, thresholds: Thresholds, facts_by_node: FactsByNode) -> list[Check]:
    """Checks of every figure: one for all pairs that are good, and one for each end that is at fault."""
    return [
        check
        for kind, tool in KINDS.items()
        for figure in tool.figures
        for check in _Figure(figure, thresholds.get(figure), kind, measured, facts_by_node).checks()
    ]


def judge_coverage(measured: Measured, facts_by_node: FactsByNode) -> Check:
    """Check that every InfiniBand device that a pod sees was measured with another."""
    paired = {end for tries in measured.tries.values() for pair in tries for end in pair}
    left_out = {end for pairs in measured.left_out.values() for pair in pairs for end in pair} - paired
    if not paired:
        return not_measured(_COVERAGE, TIME_IS_UP if left_out else _NO_PAIR)
    seen = [End(node, hca["device"]) for node, facts in facts_by_node.items() for hca in facts["hcas"]]
    left = sorted(set(seen) - paired)
    if left and left_out.issuperset(left):
        return not_measured(_COVERAGE, f"{TIME_IS_UP}: {', '.join(f'{end.node} ({end.device})' for end in left)}")
    cause = (
        f"{', '.join(f'{end.node} ({end.device})' for end in left)}: in no pair, because the port is not Active (see "
        "hca-state), or no other node has an Active HCA of the same rail (PCI address)"
    )
    return compared(_COVERAGE, len(seen), len(seen) - len(left), cause)


_CONTENTION = "rdma-contention"
_AS_ALONE = "as much side by side as alone"


def judge_contention(measured: Measured, thresholds: Thresholds) -> list[Check]:
    """The amount by which HCAs of one machine slow each other down: a check for each figure that was measured on all
    rails at once.

    The check never fails or warns. Some machines are made so, and a pool that always warned would never have accepted
    figures for later comparison.
    """
    return [_contention(kind, measured, thresholds) for kind, pairs in measured.side_by_side.items() if pairs]


def _contention(kind: str, measured: Measured, thresholds: Thresholds) -> Check:
    (figure,) = KINDS[kind].figures
    unit = thresholds.get(figure, {}).get("unit", "Gb/s")
    beside = {pair: values[figure] for pair, values in measured.side_by_side[kind].items()}
    last = {pair: measured.tries[kind][pair][-1] for pair in measured.good(kind) if pair in beside}
    again = {pair: made["values"][figure] for pair, made in last.items() if made["values"] and not made["side_by_side"]}
    alone = {pair: value for pair, value in again.items() if value > beside[pair] * (1 + LEAST_SHARE)}
    if not alone:
        return passes(_CONTENTION, _AS_ALONE, f"{spread(beside.values())} {unit}", device=figure)
    # If an end was just as good together with the others in another pair, it is not the place at which they meet.
    free = {end for pair in beside if pair not in alone for end in pair}
    ends = [end for pair in alone for end in pair]
    where = [end for end in ends if end not in free] or ends
    nodes, devices = (sorted({end[part] for end in where}) for part in (0, 1))
    cause = (
        f"contention on {len(nodes)} nodes ({', '.join(nodes)}), of {', '.join(devices)}: alone each is good, so what "
        "they share is not enough for all, which is a PCIe switch or the memory of the host"
    )
    shown = f"{spread(beside[pair] for pair in alone)} {unit} side by side, {spread(alone.values())} {unit} alone"
    return make_check(_CONTENTION, "not judged", expected=_AS_ALONE, measured=shown, device=figure, cause=cause)


_COVERAGE = "hcas-measured"
_NO_PAIR = "no HCA has one of its rail on another node"


def unmeasured(cause: str | None, figures: Iterable[str] | None = None) -> list[Check]:
    """Checks of RDMA figures that were not measured. The checks lack a cause if that is by design."""
    every = [figure for tool in KINDS.values() for figure in tool.figures]
    return [not_measured(figure, cause) for figure in (every if figures is None else figures)]


class _Figure(NamedTuple):
    """One figure, its threshold, the kind of measurement that it comes from, and what is known of it."""

    name: str
    threshold: Threshold | None
    kind: str
    measured: Measured
    facts_by_node: FactsByNode

    def checks(self) -> list[Check]:
        tries = self.measured.tries[self.kind]
        if not tries:
            return unmeasured(TIME_IS_UP if self.measured.left_out[self.kind] else _NO_PAIR, [self.name])
        last = {pair: self._last(pair) for pair in tries}
        known = {pair: value for pair, value in last.items() if value is not None}
        passing = {pair: value for pair, value in known.items() if not falls_short(value, self.threshold)}
        checks = [*self._failures(tries.keys() - passing.keys()), *self._left_out()]
        if not passing:
            return checks
        warned = self._warnings(passing)
        if self.threshold is None:
            return [*checks, *warned, self._check("not judged", spread(passing.values()))]
        if len(passing) == len(tries) and not self.measured.left_out[self.kind]:
            checks.append(self._check("pass", spread(passing.values())))
        return checks + warned

    def _left_out(self) -> list[Check]:
        """One check for all pairs that were not measured because time was up."""
        pairs = sorted(self.measured.left_out[self.kind])
        if not pairs:
            return []
        shown = ", ".join(f"{pair.client.node} ({pair.client.device})" for pair in pairs)
        return unmeasured(f"{TIME_IS_UP}: {shown}", [self.name])

    def _failures(self, bad: set[Pair]) -> list[Check]:
        nothing = {pair for pair in bad if self.measured.tells_nothing(self.kind, pair)}
        return [*self._without(bad - nothing), *(self._unmeasured(pair) for pair in sorted(nothing))]

    def _unmeasured(self, pair: Pair) -> Check:
        """The check of a pair about which nothing is known, so that neither end is at fault."""
        made = self.measured.tries[self.kind][pair][-1]
        cause = f"with {pair.server.node} ({pair.server.device}): {made['error']}: {behind(made)}"
        return self._of_pair("not measured", pair, cause, pair.client)

    def _without(self, bad: set[Pair]) -> list[Check]:
        """The checks of pairs about which something is known."""
        if not bad:
            return []
        good = [pair for pair in self.measured.good(self.kind) if pair not in bad]
        apart = {pair for pair in bad if self.measured.named(self.kind, pair) == NETWORK}
        owners = {pair: self.measured.owners(self.kind, pair) for pair in bad}
        unowned = {pair for pair in bad - apart if not owners[pair]}
        if not good and len(unowned) == len(bad) and len({end for pair in bad for end in pair}) > 2:
            return [self._everybody(bad)]
        every = [Blame(pair, (owner,)) for pair in sorted(owners) for owner in owners[pair]]
        further = self.measured.further[self.kind]
        every += [blame for blame in blames(sorted(unowned), good) if blame.pair not in further]
        checks: dict[tuple[End, ...], list[Check]] = {}
        alone = {blame.guilty[0] for blame in every if len(blame.guilty) == 1}
        for blame in every:
            if len(blame.guilty) > 1 and alone.intersection(blame.guilty):
                continue  # an end that is at fault in another pair explains this one
            ends = tuple(sorted(blame.guilty)) or tuple(sorted(blame.pair))
            tries = self.measured.tries[self.kind][blame.pair]
            verdict = verdict_by(tries[-1]["error"])
            cause = cause_of(blame, tries, self.facts_by_node)
            if ends not in checks:
                checks[ends] = [self._of_pair(verdict, blame.pair, cause, end) for end in ends]
        return [check for group in checks.values() for check in group] + self._never_met(apart)

    def _never_met(self, pairs: Iterable[Pair]) -> list[Check]:
        """One check for each two nodes whose tools did not reach each other. Their HCAs have not been used."""
        by_nodes = {(pair.client.node, pair.server.node): pair for pair in sorted(pairs, reverse=True)}
        checks = []
        for (client, server), pair in sorted(by_nodes.items()):
            made = self.measured.tries[self.kind][pair][-1]
            cause = f"{made['error']}: {behind(made)}; the pod network from {client} to {server}, and no HCA of the two"
            checks.append(self._check("fail", None, cause=cause, pair=pair))
        return checks

    def _everybody(self, bad: set[Pair]) -> Check:
        """The check if no pair is good, so that no single machine is at fault."""
        last = [self.measured.tries[self.kind][pair][-1] for pair in sorted(bad)]
        errors = [made["error"] for made in last if made["error"]]
        values = [made["values"][self.name] for made in last if made["values"]]
        nodes = sorted({end.node for pair in bad for end in pair})
        either = f"either of {' and '.join(nodes)}, or what they have in common"
        whose = either if len(nodes) == 2 else "no one machine's"
        why = next((behind(made) for made in last if made["error"]), "")
        cause = f"every pair falls short, so the fault is {whose}{': ' + why if why else ''}"
        shown = errors[0] if errors and not values else spread(values)
        verdict = "fail" if values else verdict_by(errors[0])
        return self._check(verdict, shown, cause=cause, pair=min(bad))

    def _warnings(self, passing: Mapping[Pair, float]) -> list[Check]:
        checks = []
        for pair, value in passing.items():
            count = len(self.measured.tries[self.kind][pair])
            if falls_short(value, self.threshold, "warn"):
                cause = "less than to be expected, and not yet a failure"
            elif count > 1 and pair not in self.measured.further[self.kind]:
                cause = f"it took {count} tries: measure again when the pool is idle"
            else:
                continue
            checks.append(self._of_pair("warn", pair, cause, pair.client))
        return checks + self._outliers()

    def _outliers(self) -> list[Check]:
        further = self.measured.further[self.kind]
        far = {pair: None for pair in self.measured.outliers(self.kind).get(self.name, []) if pair not in further}
        good = [pair for pair in self.measured.good(self.kind) if pair not in far]
        cause = "far from what the pool's other HCAs show (median absolute deviation), though above the limit"
        checks: dict[End, Check] = {}
        for blame in blames(far, good):
            end = blame.guilty[0] if len(blame.guilty) == 1 else blame.pair.client
            checks.setdefault(end, self._check("warn", self._last(blame.pair), cause=cause, end=end))
        return list(checks.values())

    def _last(self, pair: Pair) -> float | None:
        return (self.measured.tries[self.kind][pair][-1]["values"] or {}).get(self.name)

    def _of_pair(self, verdict: str, pair: Pair, cause: str, end: End) -> Check:
        return self._check(verdict, self._last(pair), cause=cause, end=end, pair=pair)

    def _check(
        self, verdict: str, shown: object, *, cause: str | None = None, end: End | None = None, pair: Pair | None = None
    ) -> Check:
        """One check of an end, with the tries of a pair if they are given."""
        node, device = end or (None, None)
        tries = tries_of(self.measured.tries[self.kind][pair], self.name) if pair else None
        return judged(self.name, verdict, self.threshold, shown, node=node, device=device, cause=cause, tries=tries)
