"""Confines a process by Landlock, the kernel's sandbox for ordinary persons (Linux, Documentation/userspace-api).

The process, and everything that it starts, then reads and writes only permitted paths, connects only to the ports that
it may, signals nothing outside, makes no device, and has of root's capabilities only those that concern its own files
and processes. Nothing takes that back. An older kernel leaves open what it does not know yet: `version` says what it
knows. The one library on PyPI, landlock, is a draft of 2023 (1.0.0.dev5) that knows files only. The shim of every
container imports this module, so it does without modules that take long to import.
"""

import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Iterable
    from typing import Final

# <linux/landlock.h>, <asm-generic/unistd.h>; the numbers of the calls are the same on all architectures of the tools.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_BENEATH, _PORT = 1, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _CONNECT = 1 << 14, 1 << 1
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character, block: root could make one of this computer's disks
_RIGHTS: "Final" = {1: 13, 2: 14, 3: 15, 5: 16}
"""Version -> how many rights to files there are from it on; the fifth adds device calls."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_SCOPES = 1 << 0 | 1 << 1  # abstract Unix sockets, signals
_NO_NEW_PRIVILEGES = 38  # <linux/prctl.h>
_LIBC = ctypes.CDLL(None, use_errno=True)


_CAPABILITIES = 0x20080522  # <linux/capability.h>: the version of the calls, and CHOWN to SETUID without the fourth
_KEPT = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _PortRule(ctypes.Structure):
    _fields_ = (("rights", ctypes.c_uint64), ("port", ctypes.c_uint64))


def version() -> int:
    """The Landlock version of this kernel; 0: none, or it is switched off."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))))


def warning() -> "str | None":
    """The warning for a person whose kernel cannot confine; None if it can."""
    if version():
        return None
    return "this kernel lacks Landlock: commands of Jobs run as you and are not confined to the run folder"


def confine(*, reads: "Iterable[str]", lists: "Iterable[str]", writes: "Iterable[str]", ports: "Iterable[int]") -> None:
    """Confine this process, if the kernel can. Raises OSError if it can and does not.

    reads, writes: files and folders, each with all below it; what is not there is passed over. lists: folders whose
    names alone may be seen, with those below. ports: of TCP.
    """
    _give_up_capabilities()
    known = version()
    if not known:
        return
    every = (1 << max(count for since, count in _RIGHTS.items() if since <= known)) - 1
    ruleset = _Ruleset(every, _CONNECT if known >= _NETWORK_SINCE else 0, _SCOPES if known >= _SCOPES_SINCE else 0)
    size = 8 if known < _NETWORK_SINCE else 16 if known < _SCOPES_SINCE else 24
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        reading = _EXECUTE | _READ_FILE | _READ_DIR
        for rights, paths in ((reading, reads), (_READ_DIR, lists), (every & ~_MAKE_DEVICES, writes)):
            for path in paths:
                _allow(rules, path, rights)
        if ruleset.network:
            for port in ports:
                rule = _PortRule(_CONNECT, port)
                _call(_ADD_RULE, rules, _PORT, ctypes.byref(rule), ctypes.c_uint32(0))
        _call(_RESTRICT_SELF, rules, ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _give_up_capabilities() -> None:
    """Keep of root's capabilities those that change owners, modes and users of what the process may write."""
    if _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:  # what is given up does not come back with a program
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    header, held = _CapabilityHeader(_CAPABILITIES, 0), (_Capabilities * 2)()
    if _LIBC.capget(ctypes.byref(header), ctypes.byref(held)) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    for word, kept in zip(held, (_KEPT, 0), strict=True):
        word.permitted &= kept
        word.effective, word.inheritable = word.permitted, 0
    if _LIBC.capset(ctypes.byref(header), ctypes.byref(held)) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        rule = _PathRule(rights if os.path.isdir(path) else rights & _OF_FILES, beneath)  # noqa: PTH112
        _call(_ADD_RULE, rules, _BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(beneath)


def _call(number: int, *arguments: object) -> int:
    result = int(_LIBC.syscall(number, *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return result
