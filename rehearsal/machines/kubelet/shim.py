"""Stands above one container's process, as containerd's shim does: nothing that the process starts outlives it.

`python shim.py PARENT_PID MEMLOCK_BYTES [REACH …] -- PROGRAM [ARGUMENT …]`; MEMLOCK_BYTES -1 means no limit; a REACH is
a value of an argument of `landlock.confine`, such as `reads=/usr`. SIGTERM is passed on to the program. SIGUSR1 kills
it and all it started; so does the parent's death, and the program's own end, because a container ends with its first
process. Exits with the program's exit code, 128 + N for signal N.

A validation starts hundreds of containers, so this does without modules that take long to import.
"""

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum, which takes as long as the rest
import ctypes
import os
import resource
import sys

sys.path.insert(0, os.path.realpath(f"{__file__}/../../../.."))
from rehearsal.machines.kubelet import landlock

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Run the program of the command line."""
    parent, memlock, *rest = sys.argv[1:]
    reach, command = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD})
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)
    if os.getppid() != int(parent):
        return int(128 + signal.SIGKILL)  # the parent died before it could be watched
    child = os.fork()
    if child == 0:
        _become(command, int(memlock), reach)
    status = _wait(child)
    _kill_the_rest()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(command: list[str], memlock: int, reach: list[str]) -> None:
    os.setpgid(0, 0)
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    limits = [value for value in (memlock, hard) if value != resource.RLIM_INFINITY]
    limit = min(limits, default=resource.RLIM_INFINITY)  # this computer's own limit stays
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD})
    try:
        landlock.confine(
            reads=_of("reads", reach),
            lists=_of("lists", reach),
            writes=_of("writes", reach),
            ports=map(int, _of("ports", reach)),
        )
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def _of(argument: str, reach: list[str]) -> list[str]:
    return [limit.partition("=")[2] for limit in reach if limit.startswith(f"{argument}=")]


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
    while pids := _children():
        for pid in pids:
            try:  # noqa: SIM105 - contextlib takes long to import
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:  # noqa: SIM105
            os.waitpid(-1, 0)
        except ChildProcessError:
            pass


def _children() -> list[int]:
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:  # noqa: PTH123 - so does pathlib
        return [int(pid) for pid in children.read().split()]


if __name__ == "__main__":
    sys.exit(main())
