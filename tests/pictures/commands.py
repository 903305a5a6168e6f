"""Draws docs/init.svg and docs/preflight.svg: what the two commands show on a terminal."""

from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import decide
from aks_infiniband_cli.choose.page import decision_table, document_of
from aks_infiniband_cli.preflight import all_checks
from aks_infiniband_cli.preflight.command import answer
from rich.console import Console, Group
from rich.text import Text

from pages.picture import svg_format
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import SUBSCRIPTION, logged_in
from tests.unit.command_line.preflight_stacks import FAMILY

_PROJECT: Final = Path(__file__).parents[2]
_WIDTH: Final = 120
"""Columns of the terminal in the pictures."""


def draw(file: Path, what: Group, command: str) -> None:
    """Save what a terminal shows as a picture, which wraps the lines that the terminal would."""
    for part in what.renderables:
        if isinstance(part, Text):
            part.no_wrap, part.overflow = False, "fold"
    console = Console(record=True, width=_WIDTH, file=StringIO(), highlight=False)
    console.print(what)
    console.save_svg(str(file), title=command, code_format=svg_format())


def draw_both(docs: Path) -> None:
    """Save the two pictures in a folder."""
    answers = Answers(workloads=("training",), gpus=32)
    chosen = decision_table(document_of(decide(answers), answers.region))
    draw(docs / "init.svg", chosen, "aks-infiniband init --workload training --gpus 32")
    arm = Arm(used={FAMILY: 288, "cores": 288})  # a quota that is used up
    with (
        TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        logged_in(arm, Path(folder), patch) as endpoint,
    ):
        patch.chdir(_PROJECT)
        lines = all_checks.check_stack_file(Path("Pulumi.dev.yaml"), SUBSCRIPTION, endpoint)
    draw(docs / "preflight.svg", Group(*answer("dev", lines).lines), "aks-infiniband preflight -s dev")


if __name__ == "__main__":
    draw_both(_PROJECT / "docs")
