"""The result of one try of a pair: its figures, or the words of both ends for why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ..programs.clients import Answer
from ..programs.endings import LATE_NODE, SERVER, SILENT_NODE, client_ending, server_ending, tells
from ..say.checks import Try
from .tasks import Task

TIME_WAS_UP = "time was up (validation.timeoutSeconds) before it was measured alone"


class PairTry(TypedDict, total=False):
    """One try of a pair: figures by name, or what its two ends say."""

    values: dict[str, float] | None
    error: str | None
    side_by_side: bool
    """True if all rails were measured at once."""
    client: str
    server: str
    """The endings of the two ends, if figures are absent (endings.py)."""
    told: str
    """The error of the end that says most."""


def joined(task: Task, client: Answer | None, server: Answer, *, answered: bool, late: bool = False) -> PairTry:
    """One try, made of what its two ends have answered. answered: whether the server's node has said anything.

    late: whether a node that has said nothing had too little time to.
    """
    nothing = LATE_NODE if late else SILENT_NODE
    said: Answer = client or {"values": None, "error": nothing}
    error = said["error"]
    if not error:
        return {"values": said["values"], "error": None, "side_by_side": task.side_by_side}
    of_server = server.get("server_error")
    client_ended = client_ending(error, said.get("sockets", ()))
    server_ended = server_ending(of_server, server.get("server_sockets", ()), answered=answered, late=late)
    at_server = of_server or (None if answered else nothing)
    shown = f"{error}; on {task.pair.server.node}: {at_server}" if at_server else error
    return {
        "values": None,
        "error": shown,
        "side_by_side": task.side_by_side,
        "client": client_ended,
        "server": server_ended,
        "told": at_server if at_server and tells(client_ended, server_ended) == SERVER else error,
    }


def is_late(made: PairTry) -> bool:
    """True if time was up before one of the two ends could say anything."""
    return "late" in (made.get("client"), made.get("server"))


def is_beside_others(made: PairTry) -> bool:
    """True if a try gave figures while all rails were measured at once."""
    return made["side_by_side"] and made["values"] is not None


def tries_of(tries: Sequence[PairTry], figure: str) -> list[Try]:
    """The results of a pair's tries for one figure, in their order."""
    return [{"value": (made["values"] or {}).get(figure), "error": made["error"]} for made in tries]
