"""One command at a time on a run folder, and the end of what a command that was killed has left."""

from __future__ import annotations

import datetime
import fcntl
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import psutil

from rehearsal.control_plane.credentials import LOOPBACK
from rehearsal.control_plane.processes import end, processes_of_run
from rehearsal.run.commands import stop
from rehearsal.run.folder import RunFolder

ENGINE = "pulumi"
ENGINE_GRACE_S = 10.0
SUPERVISOR_GRACE_S = 40.0
"""More than a supervisor takes to end all parts."""
NOTICE_LIMIT_S = 60.0
"""Seconds in which a supervisor surely notices that a part has ended."""
_LOOK_EVERY_S = 0.1


class BusyError(Exception):
    """Another command works on the run folder."""


@contextmanager
def the_only_command(run: RunFolder) -> Iterator[None]:
    """Holds a run folder for one command, to its end, however it ends, and ends what a killed one has left.

    Raises BusyError while another command holds it, RunFolderError for a folder that belongs to a user.
    """
    run.claim()
    with run.command.open("a+", encoding="utf-8") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(_who_holds(run, holder)) from None
        holder.truncate(0)
        holder.write(f"process {os.getpid()}, since {datetime.datetime.now():%H:%M:%S}")
        holder.flush()
        end_leftovers(run)
        yield


def _who_holds(run: RunFolder, holder: TextIO) -> str:
    holder.seek(0)
    stack, who = run.root.name, holder.read() or "it has just begun"
    return (
        f"another command works on stack {stack} ({who}): wait for its end, or stop it with Ctrl-C in its terminal; "
        f"this takes its cluster away: {stop(run.root)}"
    )


def end_leftovers(run: RunFolder) -> None:
    """Ends engines without a waiting command, and waits for the end of a data centre that is not kept, or is ending."""
    for chosen in (_is_engine, lambda _: True):
        processes = [process for process in _beside_the_data_centre(run) if chosen(process)]
        for process in processes:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGINT)
        psutil.wait_procs(processes, timeout=ENGINE_GRACE_S)
        end([process for process in processes if process.is_running()], grace_s=1.0)
    deadline = time.monotonic() + SUPERVISOR_GRACE_S
    while is_supervised(run) and not _is_left_up(run) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY_S)
    if is_supervised(run) and _refuses(run):
        content = run.read_run_json()
        pid = content["parts"]["kube-apiserver"]["pid"]
        end([process for process in processes_of_run(run.root) if process.pid == pid], grace_s=1.0)
        deadline = time.monotonic() + NOTICE_LIMIT_S
        while is_supervised(run) and _refuses(run) and time.monotonic() < deadline:
            time.sleep(_LOOK_EVERY_S)


def _refuses(run: RunFolder) -> bool:
    """True if a data centre that says it is ready has an API server that listens no more.

    An API server that gets the signal to end gives its watchers a minute and more, in which the supervisor sees a
    process that runs.
    """
    content = run.read_run_json()
    port = (content.get("ports") or {}).get("kube-apiserver")
    if content.get("state") != "ready" or port is None:
        return False
    with socket.socket() as client:
        return client.connect_ex((LOOPBACK, port)) != 0


def _is_left_up(run: RunFolder) -> bool:
    content = run.read_run_json()
    return bool(content.get("kept")) and content.get("state") != "stopping"


def _beside_the_data_centre(run: RunFolder) -> list[psutil.Process]:
    """The processes of a run that are neither its supervisor nor below it: engines, and what they started."""
    data_centre: set[int] = set()
    with suppress(psutil.Error, KeyError):
        supervisor = psutil.Process(run.read_run_json()["supervisor"])
        data_centre = {supervisor.pid, *(child.pid for child in supervisor.children(recursive=True))}
    return [process for process in processes_of_run(run.root) if process.pid not in data_centre]


def _is_engine(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return str(process.name()) == ENGINE
    return False


def is_supervised(run: RunFolder) -> bool:
    """True if a supervisor holds its lock."""
    if not run.lock.exists():
        return False
    with run.lock.open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
