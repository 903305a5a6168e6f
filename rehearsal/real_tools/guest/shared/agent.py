"""Runs in the virtual machine the commands of its host: JSON objects over one connection, a line each; answers
likewise.

Request: number, command, environment, seconds (None: no limit), and of a tool the TCP port that it uses. Answers, as
they come: number and output; number and the sockets of that port, if they have changed; number and code (None for a
command that was killed), which is the end. A request with `end` kills the command of that number.
"""

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOST = "10.0.2.2"
"""The address of the host's loopback interface in QEMU's network."""
_LOOK_SECONDS = 0.2
"""Between two looks at the sockets: as often as the payload looks (payload/programs/clients.py)."""

Say = Callable[[dict[str, Any]], None]


class Command:
    """A command that runs, with all that it started."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._killed = False
        self._process = subprocess.Popen(
            asked["command"],
            env={"PATH": os.environ["PATH"], **asked["environment"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def end(self) -> None:
        """Kill it."""
        self._killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self, say: Say) -> None:
        """Say what it says, and how it ends."""
        seconds, seen = self._asked["seconds"], list[list[str]]()
        give_up = None if seconds is None else time.monotonic() + seconds
        with self._process, selectors.DefaultSelector() as ready:
            assert self._process.stdout is not None
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                if ready.select(_LOOK_SECONDS):
                    part = os.read(self._process.stdout.fileno(), 65536)
                    if not part:
                        break
                    say({"output": part.decode(errors="replace")})
                now = _sockets(self._process.pid, self._asked.get("port"))
                if now != seen:
                    seen = now
                    say({"sockets": now})
                if give_up is not None and time.monotonic() >= give_up:
                    self.end()
                    give_up = None
            code = self._process.wait()
        say({"code": None if self._killed else code})


def _sockets(pid: int, port: "int | None") -> list[list[str]]:
    """The TCP sockets at a port in the network namespace of a process, as the kernel shows them: two ends and state."""
    if port is None:
        return []
    try:
        lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    except OSError:
        return []
    rows = [line.split()[1:4] for line in lines]
    return [row for row in rows if any(end.endswith(f":{port:04X}") for end in row[:2])]


def main() -> None:
    """Connect to the host, and run each command that it sends in a thread, until the host hangs up."""
    (number,) = re.findall(r"aks_infiniband\.port=(\d+)", Path("/proc/cmdline").read_text())
    connection = socket.create_connection((HOST, int(number)), timeout=60)
    connection.settimeout(None)
    writing = threading.Lock()
    running: dict[int, Command] = {}

    def say(number: int, words: dict[str, Any]) -> None:
        with writing:
            connection.sendall(json.dumps({"number": number, **words}).encode() + b"\n")

    def wait(number: int) -> None:
        running[number].wait(lambda words: say(number, words))
        del running[number]

    say(0, {"code": 0})
    for line in connection.makefile("r"):
        asked = json.loads(line)
        number = asked["number"]
        if asked.get("end"):
            if number in running:
                running[number].end()
            continue
        try:
            running[number] = Command(asked)
        except OSError as error:
            say(number, {"output": str(error)})
            say(number, {"code": 127})
            continue
        threading.Thread(target=wait, args=(number,), daemon=True).start()


if __name__ == "__main__":
    main()
