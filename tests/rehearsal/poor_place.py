"""A place with few rights: `python -m tests.rehearsal.poor_place FOLDER ROOM COMMAND …` runs a command there.

As in a container that runs as a separate user, without privileges, without a network and with a read-only file system.
The command
- runs as a user whom no passwd knows, without HOME and USER, and without any capability,
- is refused new namespaces, mounts and ptrace,
- has a loopback device, and neither another one nor a route,
- may write below FOLDER alone, on a disk of ROOM bytes, or without that limit if ROOM is 0; TMPDIR is full,
- finds no proxy that answers.

None of it takes privileges if the kernel lets ordinary users make a user namespace. If it does not, only the refusals
are left. `command_in` makes the command line, `proofs` tries what is not allowed.
"""

import ctypes
import fcntl
import json
import os
import platform
import pwd
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rehearsal.tools.cache import VARIABLE
from rehearsal.tools.paths import PROJECT, TOOLS

STRANGER: Final = 31415
DEAD_PROXY: Final = "http://127.0.0.1:9"
REFUSED: Final = "this kernel makes no user namespace for us"
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_NEW_MOUNTS, _NEW_NETWORK, _NEW_USER = 0x00020000, 0x40000000, 0x10000000  # <linux/sched.h>
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 32, 4096, 16384, 1 << 18  # <linux/mount.h>
_KEPT: Final = 2 | 4 | 8 | 1024 | 2048
"""nosuid, nodev, noexec, noatime, nodiratime: statvfs gives them the numbers that mount takes, and they stay."""
_DROP_BOUNDING, _NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 24, 38, 22, 2  # <linux/prctl.h>
_REFUSED: Final = {
    "x86_64": {"unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "ptrace": 101},
    "aarch64": {"unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "ptrace": 117},
}
"""Number of each system call, by machine: <asm/unistd.h>. Docker's default filter refuses them without capabilities."""
_LOAD, _IS, _RETURN = 0x20, 0x15, 0x06  # <linux/bpf_common.h>
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000  # <linux/seccomp.h>


def _checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _mount(source: str, target: Path, flags: int, kind: str = "none", options: str = "") -> None:
    words = (source.encode(), str(target).encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())
    _checked(_LIBC.mount(*words))


def command_in(folder: Path, *command: str, room: int = 0) -> list[str]:
    """The command line that runs a command there."""
    return [sys.executable, "-m", "tests.rehearsal.poor_place", str(folder), str(room), *command]


def enter(folder: Path, room: int) -> None:
    """Make this process's place poor. Raises OSError if the kernel makes no user namespace for us."""
    user, group = os.geteuid(), os.getegid()
    _checked(_LIBC.unshare(_NEW_USER | _NEW_MOUNTS | _NEW_NETWORK))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{STRANGER} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{STRANGER} {group} 1")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running
    _mount("none", Path("/"), _RECURSIVE | _PRIVATE)
    if room:
        _mount("none", folder, 0, "tmpfs", f"size={room}")
    else:
        _mount(str(folder), folder, _BIND)
    page = os.sysconf("SC_PAGE_SIZE")
    full = folder / ".full"
    full.mkdir(exist_ok=True)
    _mount("none", full, 0, "tmpfs", f"size={page}")
    (full / "of zeros").write_bytes(bytes(page))
    for place in {_mount_point(path) for path in (Path("/"), Path("/tmp"), PROJECT, TOOLS, folder.parent)}:
        kept = os.statvfs(place).f_flag & _KEPT
        _mount("none", place, _REMOUNT | _BIND | _READ_ONLY | kept)


def _mount_point(path: Path) -> Path:
    path = path.resolve()
    return next(place for place in (path, *path.parents) if place.is_mount())


def refuse_more() -> None:
    """Take away all capabilities, and refuse what would give new ones. Needs no privileges."""
    number = 0
    while _LIBC.prctl(_DROP_BOUNDING, number, 0, 0, 0) == 0:
        number += 1
    _checked(_LIBC.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()))
    refused = _REFUSED[platform.machine()].values()
    lines = [(_LOAD, 0, 0, 0), *((_IS, len(refused) - index, 0, call) for index, call in enumerate(refused))]
    lines += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _FAIL | 1)]  # EPERM
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = struct.pack("HxxxxxxP", len(lines), ctypes.addressof(code))
    _checked(_LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_LIBC.prctl(_SECCOMP, _FILTER, program, 0, 0))


def _refusal(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return os.strerror(error.errno or 0)
    except (KeyError, RuntimeError) as error:
        return type(error).__name__
    return "works"


def _write(folder: Path) -> None:
    file = folder / f".written-{os.getpid()}"
    try:
        file.write_text("more")
    finally:
        file.unlink(missing_ok=True)


def proofs(folder: Path) -> dict[str, str]:
    """The forbidden actions of a process here: each attempt with its answer."""
    capabilities = next(line for line in Path("/proc/self/status").read_text().splitlines() if "CapEff" in line)
    return {
        "the user's name": _refusal(lambda: pwd.getpwuid(os.getuid())),
        "the home folder": _refusal(Path.home),
        "capabilities": capabilities.split()[1].lstrip("0"),
        "a user namespace": _refusal(lambda: _checked(_LIBC.unshare(_NEW_USER))),
        "another computer": _refusal(lambda: socket.create_connection(("192.0.2.1", 443), timeout=5)),
        "a file in the checkout": _refusal(lambda: _write(PROJECT)),
        "a file in /tmp": _refusal(lambda: _write(Path("/tmp"))),
        "a file in TMPDIR": _refusal(lambda: _write(Path(os.environ["TMPDIR"]))),
        "a file in the folder": _refusal(lambda: _write(folder)),
    }


def _may_enter(folder: Path, room: int) -> bool:
    """True if the kernel allows all of it. Tried by a child: some allow a beginning, and half a place is none."""
    child = os.fork()
    if child == 0:
        try:
            enter(folder, room)
        except OSError as error:
            print(f"{REFUSED}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _main(folder: Path, room: int, command: list[str]) -> None:
    os.chdir(PROJECT)
    if _may_enter(folder, room):
        enter(folder, room)
    refuse_more()
    if command == ["proofs"]:
        os.environ["TMPDIR"] = str(folder / ".full")
        del os.environ["HOME"]
        print(json.dumps(proofs(folder)))
        return
    left_out = {"HOME", "USER", "LOGNAME", "no_proxy", "NO_PROXY"}
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), DEAD_PROXY)
    os.execvpe(
        command[0], command, {**environment, **proxies, "TMPDIR": str(folder / ".full"), VARIABLE: str(TOOLS.parent)}
    )


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
