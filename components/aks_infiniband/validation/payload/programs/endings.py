"""The ways in which the two ends of a measurement can end, and the end that is named for each: as data.

A pair has a client and a server, and each leaves words, or silence and what the kernel showed of its connection. The
fault follows from both together. If it does not, the pair is named, and other pairs decide (rdma/narrowing.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from . import words
from .sockets import ESTABLISHED, LISTEN, SYN_SENT

OWN = re.compile(
    r"could not be started|not found|Unable to find the Infiniband|No IB devices|Did not detect devices"
    r"|Couldn't (?:register|allocate) MR|create mr|Couldn't create|Port number \d+ state|Couldn't set the link layer"
    r"|Couldn't get context|Couldn't listen to port",
    re.IGNORECASE,
)
"""A tool's words on its own side alone."""
NO_WAY = re.compile(
    r"Completion with error|Failed status|retry exceeded|to RTR|Couldn't connect to remote QP|Unable to Connect"
    r"|errno=113"
)
"""A tool's words when packets do not arrive."""
NOT_LISTENING = re.compile(
    r"Couldn't connect to \S+:\d+|Unable to (open file descriptor for|init the) socket connection"
)
"""A client's words if its server does not listen (yet)."""
LEFT = re.compile(
    r"Couldn't read (?:remote address|reports)|Couldn't (?:read/write|send/recv) \w+ address|Failed to exchange data"
    r"|Unable to (?:read|write) \w+ socket|client read/write|Failed to close connection"
    r"|forcibly closed by a peer"
)
"""A tool's words if its peer has hung up."""
UNANSWERED = re.compile(r"No messages were received|beyond the kernels' buffers")
"""The words for a tool that ended by itself without a figure."""
KILLED = "did not end within"
"""The words for a tool that was killed at its limit."""
SIGNAL = "was ended by signal"
NO_FIGURE = re.compile(r"no result of a number above zero")
"""The words for a tool that ended well and shows 0 (rdma/tools.py). perftest does so if a machine is too busy."""
SILENT_NODE = "the node did not answer in time"
LATE_NODE = "time was up (validation.timeoutSeconds) before the node could answer"
"""The words for a node that had less time left than a step may take."""

CLIENTS: Mapping[str, str] = {
    "said": "says what is wrong with its own side",
    "lost": "says that packets do not arrive",
    "left": "says no more than that the server hung up",
    "refused": "nobody listened",
    "dropped": "killed while its connection was never answered",
    "stuck": "killed while it was connected, without a word",
    "hung": "killed without a word, and no connection of it was seen",
    "killed": "ended by a signal that is not ours",
    "unclear": "failed with other words",
    "silent": "its node did not answer",
    "late": "time was up before its node could answer",
    "zero": "ended well, and its figure is 0",
}
"""The ways in which a client without figures can end."""
SERVERS: Mapping[str, str] = {
    "well": "ended well",
    "said": "says what is wrong with its own side",
    "lost": "says that packets do not arrive",
    "left": "says no more than that the client hung up",
    "waiting": "killed while no client came, without a word",
    "stuck": "killed after its client came, without a word",
    "hung": "killed before it listened, without a word",
    "killed": "ended by a signal that is not ours",
    "unclear": "failed with other words",
    "silent": "its node did not answer",
    "late": "time was up before its node could answer",
}
"""The ways in which its server can end."""

CLIENT, SERVER, BOTH, BETWEEN, NETWORK = "client", "server", "both", "between", "pod network"
_WHO = {"c": CLIENT, "s": SERVER, "b": BOTH, "-": BETWEEN, "n": NETWORK}
_TABLE = """
           well  said  lost  left  waiting  stuck  hung  killed  unclear  silent  late
said       c     b     c     c     c        c      b     b       c        c       c
lost       -     s     -     -     -        -      -     s       -        s       -
left       -     s     -     -     -        -      s     s       s        s       -
refused    -     s     s     n     n        -      s     s       s        s       -
dropped    n     s     n     n     n        n      s     s       n        s       n
stuck      c     s     -     -     -        -      -     s       s        s       -
hung       c     b     -     c     c        -      b     b       c        c       c
killed     c     b     c     c     c        c      b     b       c        c       c
unclear    c     s     -     c     c        c      s     s       -        -       -
silent     c     b     c     c     c        c      b     b       c        b       c
late       -     s     -     -     -        -      s     s       s        s       -
zero       -     s     -     -     -        -      s     s       -        -       -
"""
NAMED: Mapping[tuple[str, str], str] = {
    (row.split()[0], server): _WHO[letter]
    for head, *rows in [_TABLE.strip().splitlines()]
    for row in rows
    for server, letter in zip(head.split(), row.split()[1:])
}
"""The end that is named, by the endings of client and server.

A tool's words on its own side count most, the client's words before the server's. A server that waited, polls for ever,
or hung up because its client did, has done nothing wrong: it is named only if it says so, if a signal ended it, or if
it never listened. A client that hung is not named if its server has seen it: the connection of ibv_rc_pingpong is over
before any program looks. Neither end is named if a node had too little time left to answer, or for a figure of 0.
`between`: this pair does not show which end it was, and only other pairs can. `pod network`: the tools never met, so
the HCAs have not been measured at all.
"""


def client_ending(error: str, states: Collection[str]) -> str:
    """The ending of a failed client, by the words for it and the states in which its connection was seen."""
    without = {SILENT_NODE: "silent", LATE_NODE: "late"}
    if error in without:
        return without[error]
    if NO_FIGURE.search(error):
        return "zero"
    unanswered = SYN_SENT in states and ESTABLISHED not in states
    ending = _by_words(error, {"dropped": unanswered, "refused": bool(NOT_LISTENING.search(error))})
    return ending or ("stuck" if ESTABLISHED in states else "hung")


def server_ending(error: str | None, states: Collection[str], *, answered: bool, late: bool = False) -> str:
    """The ending of a server. answered: True if its node has said anything. late: True if it had too little time."""
    if error is None:
        return "well" if answered else "late" if late else "silent"
    return _by_words(error, {}) or ("stuck" if ESTABLISHED in states else "waiting" if LISTEN in states else "hung")


def _by_words(error: str, of_client: Mapping[str, bool]) -> str | None:
    """The ending of a tool, by the words for it. None if it was killed without a word."""
    known = {
        "said": bool(OWN.search(error)),
        "lost": bool(NO_WAY.search(error)),
        **of_client,
        "left": bool(LEFT.search(error)),
        "killed": SIGNAL in error,
        "stuck": bool(UNANSWERED.search(error)),
    }
    unclear = None if KILLED in error else "unclear"
    return next((ending for ending, is_so in known.items() if is_so), unclear)


def tells(client: str, server: str) -> str:
    """The end whose words say most of what happened, client or server."""
    said_nothing = client in ("left", "hung")
    return SERVER if NAMED[client, server] == SERVER or (said_nothing and server == "lost") else CLIENT


CAUSES: Mapping[str, str] = {
    "dropped": words.UNANSWERED,
    "refused": "no server answered on the pod network: the peer's tool did not start, or a network policy refuses it",
    "stuck": "the tool was connected and then hung without a word: packets do not arrive, or the driver or the HCA "
    "does not answer (dmesg on the node)",
    "waiting": "no client came to the server: the connection from its client was lost on the pod network",
    "hung": "the tool hung without a word: the driver or the HCA does not answer (dmesg on the node)",
    "killed": "something on the node ended the tool: memory ran out (dmesg on the node), or a person",
    "left": "the other tool hung up and did not say why",
    "lost": words.STATUSES[words.RETRY_EXCEEDED]["cause"],
    "silent": "the node's pod has gone (its status says why: OOMKilled, exit code 137, is memory that ran out), or "
    "is still busy with something that hangs",
    "late": "give the validation more time, or see what took it in the tries of others",
}
"""The likely cause of an ending about which the tool itself said nothing."""
