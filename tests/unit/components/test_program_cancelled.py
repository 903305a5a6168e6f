"""The project's own program, when the engine cancels it because a resource has failed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CANCELLED = """
import os, signal
source = open("__main__.py").read().partition("try:")[0]
exec(compile(source, "__main__.py", "exec"))
os.kill(os.getpid(), signal.SIGINT)
"""


def test_a_cancelled_program_ends_without_a_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", CANCELLED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 32, "by which the language host knows that the cause has been told"
    assert ended.stderr == ""


FAILS = """
import aks_infiniband, pulumi, runpy, tempfile, sys
tempfile.tempdir = sys.argv[1]
def load(): raise KeyError("name")
aks_infiniband.load = load
try:
    runpy.run_path("__main__.py")
except pulumi.RunError as error:
    print(error)
"""


def test_an_error_that_nobody_foresaw_is_a_sentence_and_its_traceback_is_in_a_log(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FAILS, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (log,) = tmp_path.iterdir()
    assert ended.stdout == (
        f"this error is a defect of aks-infiniband: KeyError: 'name'; please report it with the log {log}\n"
    )
    assert "Traceback" in log.read_text(encoding="utf-8")
