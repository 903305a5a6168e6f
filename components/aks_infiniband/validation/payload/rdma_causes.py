"""Why an RDMA measurement may have fallen short: the tools' own words, the link, and who is good with others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .narrowing import Blame, End

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


def cause_of(blame: Blame, tries: Sequence[Mapping[str, Any]], facts_by_node: Mapping[str, Mapping[str, Any]]) -> str:
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


def _link(end: End, facts_by_node: Mapping[str, Mapping[str, Any]]) -> str:
    """What the port itself says, where it differs from its siblings."""
    hcas = facts_by_node.get(end.node, {}).get("hcas", [])
    mine = next((hca for hca in hcas if hca["device"] == end.device), None)
    rates = [hca["rate_gbps"] for hca in hcas if hca["rate_gbps"] is not None]
    if mine is None or not rates or mine["rate_gbps"] == max(rates):
        return ""
    return f"its link runs at {mine['rate_gbps']:g} Gb/s, the node's others at {max(rates):g}"
