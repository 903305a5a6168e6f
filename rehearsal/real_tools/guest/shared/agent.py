"""Runs in the virtual machine what its host asks for: one JSON object a line over one connection, answered likewise.

Asked: number, command, environment, seconds. Answered: number, code (None for what was killed at its limit), output.
"""

import json
import os
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

HOST = "10.0.2.2"
"""Where QEMU's network has the host's loopback interface."""


def run(asked: dict[str, Any]) -> dict[str, Any]:
    environment = {"PATH": os.environ["PATH"], **asked["environment"]}
    with subprocess.Popen(
        asked["command"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=asked["seconds"])
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, code = process.communicate()[0], None
    return {"number": asked["number"], "code": code, "output": said.decode(errors="replace")}


def main() -> None:
    (port,) = re.findall(r"aks_infiniband\.port=(\d+)", Path("/proc/cmdline").read_text())
    connection = socket.create_connection((HOST, int(port)), timeout=60)
    connection.settimeout(None)
    writing = threading.Lock()

    def answer(asked: dict[str, Any]) -> None:
        try:
            found = run(asked)
        except OSError as error:
            found = {"number": asked["number"], "code": 127, "output": str(error)}
        with writing:
            connection.sendall(json.dumps(found).encode() + b"\n")

    connection.sendall(b'{"number": 0, "code": 0, "output": ""}\n')
    for line in connection.makefile("r"):
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()


if __name__ == "__main__":
    main()
