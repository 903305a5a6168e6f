"""One figure that was measured, as it stands in a report."""

from __future__ import annotations

from typing import TypedDict

from .checks import Try


class Figure(TypedDict, total=False):
    """One figure that was measured, with all its tries: between two HCAs, or over a network (the interface).

    side_by_side: the figure while all rails were measured at once, if they were.
    """

    figure: str
    node: str
    device: str
    rail: str
    peer: str
    peer_device: str
    network: str
    value: float | None
    tries: list[Try]
    neighbours: bool
    side_by_side: float | None
