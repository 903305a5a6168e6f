"""The causes of an RDMA measurement that falls short or fails, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ..look.node import FactsByNode
from ..programs import words
from ..programs.endings import CAUSES, SERVER, tells
from .measuring import TIME_WAS_UP, PairTry
from .narrowing import Blame, End


def verdict_by(error: str | None) -> str:
    """The verdict on a pair that is not good: a fault, unless its tool could not do anything."""
    nothing = error is not None and ("could not be started" in error or error == TIME_WAS_UP)
    return "not measured" if nothing else "fail"


def behind(made: PairTry) -> str:
    """The likely cause of a try that failed: told by the words of the end that says most, or by how that end ended."""
    told = made.get("told") or made["error"] or ""
    known = words.found_in(told, words.TOOLS) or next((entry for _, entry in words.statuses_in(told)), None)
    if known or "client" not in made:
        return known["cause"] if known else "the tool's own words say why"
    ended = made["server"] if tells(made["client"], made["server"]) == SERVER else made["client"]
    return CAUSES.get(ended, "the tool's own words say why")


def cause_of(blame: Blame, tries: Sequence[PairTry], facts_by_node: FactsByNode) -> str:
    """The likely cause of a pair's shortfall, in words."""
    error = tries[-1]["error"]
    why = f"{error}: {behind(tries[-1])}" if error else ""
    client, server = (f"{end.node} ({end.device})" for end in blame.pair)
    if len(blame.guilty) == 1:
        others = f"it falls short with {' and '.join(blame.peers)}, whose HCAs do not fall short with others"
        parts = [_link(blame.guilty[0], facts_by_node), others if blame.peers else ""]
    elif blame.guilty:
        parts = [f"{client} or {server}: no third HCA has told them apart"]
    else:
        parts = [f"the path between {client} and {server}: both are good with others (a cable or port of a switch)"]
    return "; ".join(part for part in (why, *parts) if part)


def _link(end: End, facts_by_node: FactsByNode) -> str:
    """The port's own facts, if they differ from the other ports of its node."""
    hcas = facts_by_node[end.node]["hcas"] if end.node in facts_by_node else []
    mine = next((hca for hca in hcas if hca["device"] == end.device), None)
    rates = [hca["rate_gbps"] for hca in hcas if hca["rate_gbps"] is not None]
    if mine is None or not rates or mine["rate_gbps"] == max(rates):
        return ""
    return f"its link runs at {mine['rate_gbps']:g} Gb/s, the node's others at {max(rates):g}"
