"""Stands above one container's process, as containerd's shim does: nothing that the process starts outlives it.

`python shim.py PARENT_PID MEMLOCK_BYTES LIMITS PROGRAM [ARGUMENT …]`; MEMLOCK_BYTES -1 means no limit; LIMITS are the
arguments of `landlock.confine` as JSON. SIGTERM is passed on to the program. SIGUSR1 kills it and all it started; so
does the parent's death, and the program's own end, because a container ends with its first process. Exits with the
program's exit code, 128 + N for signal N.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from rehearsal.machines.kubelet import landlock

TYPE_CHECKING = False
if TYPE_CHECKING:  # takes long to import
    from typing import Any

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Run the program of the command line."""
    parent, memlock, limits, *command = sys.argv[1:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD})
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
    if os.getppid() != int(parent):
        return 128 + signal.SIGKILL  # the parent died before it could be watched
    child = os.fork()
    if child == 0:
        _become(command, int(memlock), json.loads(limits))
    status = _wait(child)
    _kill_the_rest()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(command: list[str], memlock: int, confinement: "dict[str, Any]") -> None:
    os.setpgid(0, 0)
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    limits = [value for value in (memlock, hard) if value != resource.RLIM_INFINITY]
    limit = min(limits, default=resource.RLIM_INFINITY)  # this computer's own limit stays
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD})
    try:
        landlock.confine(**confinement)
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _wait(child: int) -> int:
    while True:
        number = signal.sigwait({signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD})
        if number == signal.SIGTERM:
            os.kill(child, signal.SIGTERM)
        elif number == signal.SIGUSR1:
            os.kill(child, signal.SIGKILL)
        ended, status = os.waitpid(-1, os.WNOHANG)
        while ended:
            if ended == child:
                return status
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                ended = 0


def _kill_the_rest() -> None:
    """Kill what the program left behind: all of it is our child by now, or becomes it when its parent dies."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while pids := children.read_text().split():
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


if __name__ == "__main__":
    sys.exit(main())
