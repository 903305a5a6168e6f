"""Judges the rate of a node's ports: by the machine size's table, and by what the adapter itself could reach.

The table may be wrong: Azure's pages and other sources have contradicted each other. So a port that runs at its
adapter's own limit never fails. If it differs from the table, a warning names the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..say.checks import Check, fails, make_check, not_measured, passes
from ..say.expectations import Expectations, Threshold
from .kernel import Hca

_LIMIT_GBPS: Mapping[str, float] = {"16": 100.0, "20": 200.0, "28": 400.0, "40": 800.0}
"""The most that a port of four lanes reaches, in Gb/s, by the first number of the HCA's firmware version: that of
ConnectX-5 (EDR), ConnectX-6 (HDR), ConnectX-7 (NDR) and ConnectX-8 (XDR). Source: NVIDIA, names of the adapters'
firmware images (fw-ConnectX7-rel-28_…, read 2026-11-23); that ConnectX-8 has 40 is assumed."""

_SLOW = "the link trained with fewer lanes or at a lower speed than it could; recreate the node"

RateVerdict = Literal["pass", "warn", "fail"]


def limit_of_port(hca: Hca) -> float | None:
    """The most that the port reaches, in Gb/s; None if its firmware's version is not known."""
    return _LIMIT_GBPS.get((hca["firmware"] or "").partition(".")[0])


def rate_verdict(hca: Hca, table_gbps: float) -> RateVerdict:
    """The verdict on a port's rate. The verdict is ``warn`` if the table must be wrong, not the port."""
    rate = hca["rate_gbps"]
    if rate == table_gbps:
        return "pass"
    if rate is not None and (rate > table_gbps or rate == limit_of_port(hca)):
        return "warn"
    return "fail"


def judge_rates(node: str, hcas: Sequence[Hca], expected: Expectations) -> list[Check]:
    """One check if all ports are as the table says or none exists; otherwise one for each port that is not."""
    table = expected["hcas"]["rate_gbps"]
    if not hcas:
        return [not_measured("hca-rate", "no InfiniBand device to query", expected=table, node=node)]
    checks = []
    for hca in hcas:
        verdict = rate_verdict(hca, table)
        if verdict == "fail":
            checks.append(fails("hca-rate", table, hca["rate_gbps"], _SLOW, node=node, device=hca["device"]))
        elif verdict == "warn":
            checks.append(_warning(node, hca, expected))
    return checks or [passes("hca-rate", table, node=node)]


def _warning(node: str, hca: Hca, expected: Expectations) -> Check:
    table, rate = expected["hcas"]["rate_gbps"], hca["rate_gbps"]
    at_limit = limit_of_port(hca) == rate
    limit = f", the most that its adapter reaches (firmware {hca['firmware']})" if at_limit else ""
    cause = (
        f"the port runs at {rate:g} Gb/s{limit}; the table of machine sizes says {table:g} for {expected['vm_size']}. "
        "The table is wrong, not the machine: describe the size with infiniband.rateGbps in aks-infiniband:sizes, and "
        "report it"
    )
    return make_check("hca-rate", "warn", expected=table, measured=rate, cause=cause, node=node, device=hca["device"])


def with_found_rate(expected: Expectations, ports: Iterable[Hca]) -> Expectations:
    """The expectations. Limits that were computed from the table's rate are scaled to the ports' own rate.

    ports: those of all nodes of the pool. Limits are scaled only if all ports run at one rate and the table is what is
    wrong.
    """
    table = expected["hcas"]["rate_gbps"]
    rates = {hca["rate_gbps"] if rate_verdict(hca, table) == "warn" else None for hca in ports}
    rate = rates.pop() if len(rates) == 1 else None
    if rate is None:
        return expected
    factor = rate / table
    thresholds = {figure: _scaled(bound, factor) for figure, bound in expected["thresholds"].items()}
    changed: Expectations = {**expected, "thresholds": thresholds}
    if plan := expected["collective"]:
        bounds = {transport: bound and _scaled(bound, factor) for transport, bound in plan["thresholds"].items()}
        line = plan["line_gb_per_s"] * factor
        changed["collective"] = {**plan, "line_gb_per_s": line, "thresholds": bounds}
    return changed


def _scaled(bound: Threshold, factor: float) -> Threshold:
    """A computed limit for ports of another rate. A limit that was measured or given stays as it is."""
    if bound.get("basis") != "computed":
        return bound
    warn, fail = bound.get("warn"), bound.get("fail")
    source = f"{bound.get('source')}, scaled by {factor:g} to the ports' own rate"
    return {**bound, "warn": warn and warn * factor, "fail": fail and fail * factor, "source": source}
