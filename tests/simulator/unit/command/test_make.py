"""A SIGINT to `make` alone ends what it runs."""

import signal
import subprocess
import sys
from pathlib import Path

from rehearsal.run.make import was_interrupted
from rehearsal.tools.paths import PROJECT

COMMAND = """
import sys, time
from rehearsal.run.make import make_above, was_interrupted
make = make_above()
assert make and not was_interrupted(make)
print("runs", flush=True)
while not was_interrupted(make):
    time.sleep(0.05)
print("ends", flush=True)
"""


def test_a_command_notices_that_its_make_was_interrupted(tmp_path: Path) -> None:
    (tmp_path / "command.py").write_text(COMMAND)
    (tmp_path / "Makefile").write_text(f"it:\n\t@PYTHONPATH={PROJECT} {sys.executable} {tmp_path}/command.py\n")
    line = ["make", "--silent", "--file", str(tmp_path / "Makefile"), "it"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as make:
        assert make.stdout is not None
        assert make.stdout.readline() == "runs\n"
        make.send_signal(signal.SIGINT)
        assert make.stdout.readline() == "ends\n"


def test_a_make_that_a_script_started_in_the_background_was_not_interrupted(tmp_path: Path) -> None:
    program = "from rehearsal.run.make import *; print(was_interrupted(make_above()))"
    (tmp_path / "Makefile").write_text(f"it:\n\t@PYTHONPATH={PROJECT} {sys.executable} -c '{program}'\n")
    line = ["sh", "-c", f"make --silent --file {tmp_path}/Makefile it & wait"]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "False\n"


def test_who_was_started_by_nobodys_make_is_not_stopped(tmp_path: Path) -> None:
    program = "from rehearsal.run.make import make_above; print(make_above())"
    line = ["setsid", "--wait", "sh", "-c", f"sh -c '{sys.executable} -c \"{program}\"; true'; true"]
    assert subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, check=True).stdout == "None\n"
    assert not was_interrupted(1 << 22)
