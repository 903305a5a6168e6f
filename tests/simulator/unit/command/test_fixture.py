"""The fixture `rehearse`, as far as it starts nothing: its page, faults, and what was kept."""

import inspect
import re
from pathlib import Path

import pytest

from rehearsal.control_plane import ControlPlaneError, RunFolder
from rehearsal.faults import machine_faults
from rehearsal.session import Rehearsal
from rehearsal.testing.stack import RehearsedStack, kept, rehearsing
from tests.snippets import DOCS


def test_the_page_names_every_option_and_everything_that_a_stack_does() -> None:
    page = (DOCS / "rehearse-your-program.md").read_text()
    rows = re.findall(r"^\| `(?:with )?(\w+)[(=]", page, flags=re.MULTILINE)
    options = {*inspect.signature(rehearsing).parameters, "kept"} - {"project", "stack", "folder"}
    methods = {name for name, _ in inspect.getmembers(RehearsedStack, inspect.isfunction) if name[0] != "_"}

    assert options <= set(rows)
    assert methods - {"preview", "destroy", "run"} <= set(rows), "those three stand in the row of `up`"


def test_what_breaks_for_a_block_is_mended_at_its_end_and_what_was_broken_before_stays_so(tmp_path: Path) -> None:
    stack = RehearsedStack(Rehearsal(project=tmp_path, stack="dev", run=RunFolder.at(tmp_path)))
    stack.fault("link-down", node="*000000")
    before = machine_faults.read(tmp_path)
    with stack.broken("slow", node="*000001", factor=0.5):
        assert [entry["fault"] for entry in machine_faults.read(tmp_path)] == ["link-down", "slow"]
    assert machine_faults.read(tmp_path) == before


def test_what_was_not_kept_is_told_with_the_command_that_keeps_it(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="rehearsal up dev --keep"):
        kept(tmp_path, "dev")
