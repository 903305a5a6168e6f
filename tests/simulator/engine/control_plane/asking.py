"""The tests' reads of a control plane and its processes."""

import json
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lightkube import ApiError, Client, KubeConfig

from rehearsal.control_plane import (
    ControlPlane,
    ControlPlaneError,
)
from rehearsal.control_plane.processes import processes_of_run

LIMIT_S = 240.0
"""For what takes a second or two, on a machine that may be very busy."""
Result = TypeVar("Result")


def client_of(control_plane: ControlPlane) -> Client:
    return Client(KubeConfig.from_file(str(control_plane.kubeconfig)))


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while processes_of_run(folder.resolve()):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def ask(control_plane: ControlPlane, part: str, context: ssl.SSLContext) -> bytes:
    port = json.loads(control_plane.run.run_json.read_text())["ports"][part]
    with (
        socket.create_connection(("127.0.0.1", port)) as connection,
        context.wrap_socket(connection, server_hostname="127.0.0.1") as channel,
    ):
        channel.sendall(b"GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return channel.recv(4096)


def eventually(action: Callable[[], Result]) -> Result:
    """The action's result, as soon as the API server no longer objects."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return action()
        except ApiError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def failure_of(control_plane: ControlPlane) -> str:
    """The complaint of `check`, as soon as there is one."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            control_plane.check()
        except ControlPlaneError as error:
            return str(error)
        time.sleep(0.1)
    raise AssertionError("nothing was reported")
