"""The project's own program, when the engine cancels it because a resource has failed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CANCELLED = """
import os, signal
source = open("__main__.py").read().partition("stack = ")[0]
exec(compile(source, "__main__.py", "exec"))
os.kill(os.getpid(), signal.SIGINT)
"""


def test_a_cancelled_program_ends_without_a_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", CANCELLED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 32, "by which the language host knows that the cause has been told"
    assert ended.stderr == ""
