"""Runs a command that cannot lock memory: without CAP_IPC_LOCK, and with a limit of 16 KiB."""

import ctypes
import os
import resource
import sys

_PR_CAPBSET_DROP = 24
_CAP_IPC_LOCK = 14

if ctypes.CDLL(None, use_errno=True).prctl(_PR_CAPBSET_DROP, _CAP_IPC_LOCK, 0, 0, 0):
    sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
resource.setrlimit(resource.RLIMIT_MEMLOCK, (16384, 16384))
os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 that is what it is for
