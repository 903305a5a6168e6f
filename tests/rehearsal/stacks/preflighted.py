"""An `up` that makes its preflight. A rehearsal has none, because its Azure does not speak HTTPS."""

from pathlib import Path
from typing import Final

import yaml

from rehearsal.stack import stack_file
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome, run
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.loopback import certified, serving

from .conftest import Stack

_BEFORE_THE_PROGRAM: Final = """
import sys
sys.path.insert(0, {project!r})
import pathlib, pytest
from tests.unit.command_line.logged_in import in_place_of_the_world
in_place_of_the_world({url!r}, pathlib.Path({certificate!r}), pytest.MonkeyPatch())
"""


def up(stack: Stack, arm: Arm, folder: Path) -> Outcome:
    """Bring the stack up as its file says, preflight included, which calls `arm` in the place of Azure."""
    certificate, program = certified(folder), stack.rehearsal.project / "__main__.py"
    own = program.read_text(encoding="utf-8")
    with serving(arm.reply, certificate) as url:
        asking = _BEFORE_THE_PROGRAM.format(project=str(PROJECT), url=url, certificate=str(certificate))
        program.write_text(asking + own, encoding="utf-8")
        try:
            stack.settings(preflight=True)
            engine = stack.rehearsal.engine()
            document = yaml.safe_load(engine.stack_file.read_text(encoding="utf-8"))
            assert document["config"]["aks-infiniband:preflight"] is False, "a rehearsal makes none"
            document["config"]["aks-infiniband:preflight"] = True
            engine.stack_file.write_text(stack_file.written(document), encoding="utf-8")
            return run(engine, "up")
        finally:
            program.write_text(own, encoding="utf-8")
