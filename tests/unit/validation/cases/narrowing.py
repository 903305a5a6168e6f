"""Pairs of HCAs, written as in a>b, and with HCAs other than ib0 as in a:ib1>b."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.validation.payload.rdma.narrowing import (
    End,
    Pair,
    blames,
    further_pairs,
    outliers,
    rails_of,
    ring,
    rounds,
)

from tests.cases import Case

_RAILS: Final = {node: {"ib0": "0", "ib1": "1"} for node in "abcd"}


def _end(text: str) -> End:
    node, _, device = text.partition(":")
    return End(node, device or "ib0")


def _pair(text: str) -> Pair:
    client, _, server = text.partition(">")
    return Pair(_end(client), _end(server))


def _pairs(case: Case, key: str) -> list[Pair]:
    return [_pair(text) for text in case.get(key, ())]


def _text(pair: Pair) -> str:
    return ">".join(map(_name, pair))


def _name(end: End) -> str:
    return end.node if end.device == "ib0" else f"{end.node}:{end.device}"


def outcome_of_pairs(case: Case) -> Any:
    """A ring of nodes, the rails of members, rounds of pairs, outliers among values, or the ends at fault of pairs that
    fell short while others were good, with the pairs that are measured next.
    """
    rails = case.get("rails", _RAILS)
    if "members" in case:
        return rails_of(case["members"])
    if "ring" in case:
        return [[_text(pair) for pair in pairs] for pairs in ring(case["ring"], rails)]
    if "rounds" in case:
        return [[_text(pair) for pair in pairs] for pairs in rounds(_pairs(case, "rounds"))]
    if "values" in case:
        values = {_pair(text): value for text, value in case["values"].items()}
        return [_text(pair) for pair in outliers(values, case.get("better", "higher"))]
    bad, good = _pairs(case, "bad"), _pairs(case, "good")
    guilty = {_text(one.pair): [_name(end) for end in one.guilty] for one in blames(bad, good)}
    peers = {_text(one.pair): list(one.peers) for one in blames(bad, good) if one.peers}
    return {"guilty": guilty, "peers": peers, "next": [_text(pair) for pair in further_pairs(bad, good, rails)]}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"narrowing": outcome_of_pairs}
