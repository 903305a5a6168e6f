"""The simulated sockperf ends as the real one did, and the payload takes it for what it was."""

import os
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rehearsal.machines.rdma_tools import wire
from rehearsal.tools.paths import PROJECT
from tests.unit.field_recordings.recordings import recorded

RECORDED = recorded("sockperf")
CLIENTS = [entry for entry in RECORDED if entry["side"] == "client"]
SIMULATED = [entry for entry in CLIENTS if entry["case"] not in ("well", "dropped")]
PORT = 18780


def started(run: Path, arguments: str, address: str = "10.244.0.1") -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        **{"AKS_INFINIBAND_REHEARSAL": str(run), "REHEARSAL_NODE": "client", "REHEARSAL_POD_IP": address},
        **{"REHEARSAL_MACHINE": str(run), "REHEARSAL_CONTAINER": str(run)},
    }
    words = re.sub(r"-i \S+ -p \d+", f"-i 10.244.0.2 -p {PORT}", arguments).split()
    command = [str(PROJECT / "rehearsal/machines/bin/sockperf"), *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def comparable(text: str) -> list[str]:
    """The lines without numbers, addresses and distributions."""
    lines = (
        re.sub(r"#?\d[\d.:]*(-no.git)?", "#", " ".join(line.split())) for line in text.splitlines() if line.strip()
    )
    return [line for line in lines if "percentile" not in line]


@pytest.mark.parametrize("entry", SIMULATED, ids=lambda entry: entry["name"])
def test_a_client_ends_as_the_real_one_did(tmp_path: Path, entry: dict[str, Any]) -> None:
    listener = None if entry["case"] == "nobody-listens" else wire.Listener(str(tmp_path), "10.244.0.2", PORT)
    client = started(tmp_path, entry["arguments"].replace("-t 2", "-t 1"))
    if listener and entry["case"] == "server-killed":
        socket.socket(fileno=listener.descriptor()).close()
    said = client.communicate(timeout=60)[0]
    assert (client.returncode, comparable(said)) == (entry["code"], comparable(entry["excerpt"]))


def test_a_server_whose_port_is_taken_says_so_and_ends_well_as_the_real_one_did(tmp_path: Path) -> None:
    (entry,) = (entry for entry in RECORDED if entry["case"] == "port-in-use")
    taken = wire.Listener(str(tmp_path), "10.244.0.2", PORT)
    server = started(tmp_path, entry["arguments"], "10.244.0.2")
    said = server.communicate(timeout=60)[0]
    taken.close()
    assert (server.returncode, comparable(said)) == (entry["code"], comparable(entry["excerpt"]))
