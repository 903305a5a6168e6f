"""A round of measurements: what becomes of a server whose client has ended."""

import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.programs.clients import Limits
from aks_infiniband.validation.payload.rdma import tools

POLLS_FOR_EVER = """
import socket, sys, time
port, *server = sys.argv[sys.argv.index("-p") + 1:]
if server:
    try:
        connection = socket.create_connection((server[-1], int(port)), timeout=5)
    except OSError:
        sys.exit(f"Couldn't connect to {server[-1]}:{port}")
    time.sleep(0.8)
    sys.exit("Failed status transport retry counter exceeded (12) for wr_id 2")
with socket.create_server(("", int(port))) as listening:
    client, _ = listening.accept()
time.sleep(600)
"""
"""As ibv_rc_pingpong does whose packets are lost: the client says so, the server waits for the next one."""


def test_a_server_has_a_tools_time_from_when_its_client_came_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "ibv_rc_pingpong"
    tool.write_text(f"#!{sys.executable}\n{POLLS_FOR_EVER}")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    step: Any = {"kind": "ping-pong", "pairs": [("n0", "client", "n0", "server")], "turn": 0, "seconds": 600}
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1] - 1  # the second device's is the next
    members: Any = {"n0": {"port": port, "address": "127.0.0.1", "devices": ["client", "server"]}}
    place = tools.Place("n0", Path("/proc"), Limits(connect_seconds=60, tool_seconds=3), lambda device: ())
    began = time.monotonic()

    client, server = tools.carry_out(step, members, {"n0": {"client": "1", "server": "1"}}, place)

    assert time.monotonic() - began < 30
    assert "retry counter exceeded" in str(client["error"])
    assert "did not end within" in str(server["server_error"])
