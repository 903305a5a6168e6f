"""The tutorial, executed as it was written: every command, in its order, on one rehearsal."""

import re
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.run.commands import RUNS
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.shell import in_shell
from tests.snippets import DOCS, snippets

from .commands import LIMIT_SECONDS, rehearse
from .conftest import copy_of_project

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

MAKE = """
make() {
  local target=$1; shift; local "$@"
  case $target in
    rehearse) COMMAND up "${STACK:-dev}" ${KEEP:+--keep} ${FAULTS:+--faults "$FAULTS"} ;;
    rehearse-down) COMMAND down "$STACK" ;;
    *) return 2 ;;
  esac
}
"""
"""The commands of the Makefile's targets, for a copy of the project: a checkout's own rehearsal of `dev` is
left alone.
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = copy_of_project(tmp_path_factory.mktemp("newcomer") / "checkout")
    yield folder
    rehearse(folder, "down", "all").wait(LIMIT_SECONDS)


@pytest.fixture(scope="module")
def said(checkout: Path) -> list[str]:
    """The output of each block of commands."""
    command = shlex.join([sys.executable, "-m", "rehearsal", "--project", str(checkout)])
    make = MAKE.replace("COMMAND", f"PYTHONPATH={shlex.quote(str(PROJECT))} {command}")
    inside = f". {RUNS}/dev/activate\n"
    outputs = list[str]()
    for block in snippets("tutorial.md", "sh"):
        begun = time.monotonic()
        outputs.append(in_shell(make + (inside if outputs else "") + block, checkout, seconds=600))
        print(f"{time.monotonic() - begun:.0f} s: {block.splitlines()[-1]}")
    return outputs


def shown() -> list[tuple[int, str]]:
    """The lines that the page shows as printed, each with how many blocks of commands stand before it."""
    found, commands = list[tuple[int, str]](), 0
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        commands += language == "sh"
        found += [(commands, line) for line in block.splitlines() if language == "text"]
    return found


def plain(text: str) -> str:
    """A text without what differs from run to run: ages, and the spaces that fit a column to them."""
    return " ".join(re.sub(r"\b(\d+[dhms])+\b", "AGE", text).split())


def test_every_command_of_the_tutorial_succeeds_and_prints_what_the_page_shows(said: list[str]) -> None:
    lines = shown()
    assert lines
    missing = [line for block, line in lines if plain(line) not in plain(said[block - 1])]
    assert not missing, "\n".join(said)


def test_every_adapter_of_the_sample_workload_is_active(said: list[str]) -> None:
    assert said[3].count("4: ACTIVE, 400 Gb/sec (4X NDR)") == 3 * 8


def test_validate_and_the_doctor_end_with_1_while_a_link_is_down_and_with_0_once_it_is_mended(said: list[str]) -> None:
    assert said[5].count("exit code 1\n") == 2
    assert "pool ndh100: pass" in said[6]


def test_preflight_and_teardown_ask_the_simulated_azure_in_a_rehearsals_shell(said: list[str]) -> None:
    """Their exit codes are 0, or the shell would have ended."""
    assert "Standard_ND96isr_H100_v5" in said[7]
    assert "Nothing of stack dev is left" in said[7]
