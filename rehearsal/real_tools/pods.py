"""Runs the tools of a rehearsal's pods in the virtual machine: a client of a Unix socket gets words and exit code.

A node of the rehearsal is one of the machine's two pods, in the order of their first requests. A pod there has its
address in the rehearsal, too, so that tools reach each other by it. HCAs go by the names that they have in the
rehearsal.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rehearsal.real_tools.machine import HCAS, Machine, MachineError, in_pod

log = logging.getLogger(__name__)

NODES, HCAS_A_NODE = len(HCAS), len(HCAS[0])
"""The capacity of the machine."""
_REACH = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2).close()"


class RefusedError(Exception):
    """A request cannot be run in the machine. The message says why."""


class Pods:
    """Serves the tools of a rehearsal's pods for as long as its machine runs."""

    def __init__(self, machine: Machine, place: Path) -> None:
        """place: of the socket, in a folder that exists."""
        self._machine = machine
        self._nodes: list[str] = []
        self._addresses: set[tuple[int, str]] = set()
        self._lock = threading.Lock()
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short(place) as path:
            self._server.bind(path)
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True, name="real tools").start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            asked = json.loads(connection.makefile("r", encoding="utf-8").readline() or "null")
            if asked is None:
                return
            try:
                self._run(asked, connection)
            except (MachineError, RefusedError) as error:
                log.error("%s: %s", asked["program"], error)
                _say(connection, {"output": f"{asked['program']}: {error}\n"})
                _say(connection, {"code": 1})

    def _run(self, asked: Mapping[str, Any], connection: socket.socket) -> None:
        """Run one tool, and pass on its output; it ends with its client."""
        pod = self._pod(asked["node"], asked["address"])
        names = dict(zip(asked["devices"], HCAS[pod], strict=False))
        words = [names.get(word, word) for word in asked["arguments"]]
        # A path that the rehearsal's container lacks is absent in this one, too.
        lacks = {"LACKS": HCAS[pod][1]} if len(names) == 1 else {}
        program = ["python3", "-c", _REACH] if asked["program"] == "reach" else [asked["program"]]
        started = self._machine.start([*in_pod(pod), *program, *words], environment=lacks, port=asked["port"])
        gone = threading.Event()
        threading.Thread(target=_watch, args=(connection, gone, started.end), daemon=True).start()
        rest = ""
        for said in started.words():
            if "output" in said:
                *lines, rest = (rest + said["output"]).split("\n")
                _say(connection, {"output": _renamed("".join(f"{line}\n" for line in lines), names)})
            elif "code" in said:
                log.info("%s: %s %s: exit code %s", asked["node"], *_shown(asked), said["code"])
                gone.set()
                _say(connection, {"output": _renamed(rest, names)})
                _say(connection, said)
            else:
                _say(connection, said)

    def _pod(self, node: str, address: str) -> int:
        """The machine's pod that is a node's, which from now on has that address. Raises RefusedError, MachineError."""
        with self._lock:
            if node not in self._nodes:
                if len(self._nodes) == NODES:
                    those = " and ".join(self._nodes)
                    raise RefusedError(f"real tools run on {NODES} machines, {those}, not on {node}")
                self._nodes.append(node)
            pod = self._nodes.index(node)
            if (pod, address) not in self._addresses:
                self._addresses.add((pod, address))
                self._machine.run(["sh", "-ec", _address(pod, address)])
            return pod


def _address(pod: int, address: str) -> str:
    """The command that gives a pod one more address, by which the other one reaches it."""
    other, link = 1 - pod, f"02:00:00:00:00:2{pod}"
    return f"""
    /bin/ip -n pod-{pod} addr replace {address}/32 dev eth0
    /bin/ip -n pod-{other} route replace {address}/32 dev eth0
    /bin/ip -n pod-{other} neigh replace {address} lladdr {link} dev eth0 nud permanent
    """


def _watch(connection: socket.socket, gone: threading.Event, end: Callable[[], None]) -> None:
    """End a tool whose caller has gone: was killed, as a rule."""
    with contextlib.suppress(OSError, ValueError, MachineError):
        while not gone.is_set():
            if select.select([connection], [], [], 1.0)[0]:  # it says nothing more, so this is its end
                if not gone.is_set():
                    end()
                return


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text of the machine with the names that HCAs have in the rehearsal."""
    back = {ours: theirs for theirs, ours in names.items()}
    return re.sub(r"\bmlx5_\d\b", lambda match: back.get(match[0], match[0]), text)


def _shown(asked: Mapping[str, Any]) -> tuple[str, str]:
    return asked["program"], " ".join(asked["arguments"])


def _say(connection: socket.socket, words: Mapping[str, Any]) -> None:
    if words.get("output") != "":
        # A client that was killed hears no more of it: the tool ends all the same.
        with contextlib.suppress(OSError):
            connection.sendall(json.dumps(words).encode() + b"\n")


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Give a path through a descriptor of its folder: the kernel takes no socket's path above 107 bytes."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
