"""A pool's report as a suite of test cases: one for the pool's verdict, and one for each check."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from aks_infiniband.terminal import one_line
from aks_infiniband.validation.reports import Check, Report, as_text, measured_text

Outcome = Literal["passed", "failed", "skipped"]
OUTCOMES: Final[Mapping[str, Outcome]] = {
    "pass": "passed",
    "warn": "passed",
    "fail": "failed",
    "not measured": "skipped",
    "not judged": "skipped",
}
"""By verdict. A test run knows no warning: it passes, and its text says what it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One check, or the verdict of the pool. Texts of others are one line, and their control characters are shown."""

    name: str
    verdict: str
    told: str
    """The expected and the measured value, and the likely cause."""
    node: str | None = None
    device: str | None = None

    @property
    def outcome(self) -> Outcome:
        """The word of a test run for the verdict."""
        return OUTCOMES[self.verdict]

    @property
    def title(self) -> str:
        """The name, and the device if the case has one."""
        return f"{self.name} ({self.device})" if self.device else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """The cases of one pool. finished: when it was measured; None: it was not."""

    pool: str
    finished: datetime | None
    cases: Sequence[Case]


def suite(
    pool: str,
    verdict: str,
    told: Iterable[str],
    report: Report | None,
    machines: Iterable[Mapping[str, Any]] = (),
) -> Suite:
    """The suite of a pool.

    The verdict is a separate case, because a pool can fail although each check passes: if machines are missing.

    told: the lines that explain the verdict. machines: what is known of some since the report.
    """
    cases = [Case(name="verdict", verdict=verdict, told=one_line("; ".join(told)))]
    if report is not None:
        cases += map(_case, report["checks"])
    cases += _since(machines)
    return Suite(pool=one_line(pool), finished=_moment(report["finished"]) if report else None, cases=cases)


def _case(check: Check) -> Case:
    node, device = (one_line(place) if place else None for place in (check["node"], check["device"]))
    told = one_line(_told(check))
    return Case(name=one_line(check["check"]), verdict=check["verdict"], told=told, node=node, device=device)


def _told(check: Check) -> str:
    if check["verdict"] == "not measured":
        return check["cause"] or "by design: this pool, or its settings, do not have it measured"
    seen = f"expected {as_text(check['expected'])}, measured {measured_text(check)}"
    return f"{seen} - {check['cause']}" if check["cause"] else seen


def _since(machines: Iterable[Mapping[str, Any]]) -> Iterator[Case]:
    for machine in machines:
        told = "; ".join(filter(None, (machine["what"], machine["decided"])))
        yield Case(name="since then", verdict=machine["verdict"], told=one_line(told), node=one_line(machine["node"]))


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:  # nothing was measured
        return None
    return moment if moment.tzinfo else None
