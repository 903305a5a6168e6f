"""Draws docs/init.svg and docs/preflight.svg: what the two commands show on a terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest import mock

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import decide
from aks_infiniband_cli.choose.page import document_of, shown
from aks_infiniband_cli.preflight import charts, looking, prices
from aks_infiniband_cli.preflight.command import shown as shown_lines
from rich.console import Console, Group
from rich.text import Text

from tests.documents.picture import svg_format
from tests.unit.command_line.arm import Arm, served
from tests.unit.command_line.test_preflight import FAMILY, SUBSCRIPTION, Credential

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


@contextmanager
def _azure() -> Iterator[str]:
    """The loopback Azure of the tests, with a quota that is used up, and somebody who is logged in."""
    with TemporaryDirectory() as folder, served(Arm(used={FAMILY: 288, "cores": 288}), Path(folder)) as (url, trusted):
        environment = {"REQUESTS_CA_BUNDLE": str(trusted), "NO_PROXY": "127.0.0.1"}
        with (
            mock.patch.dict(os.environ, environment),
            mock.patch.object(looking, "login", Credential),
            mock.patch.object(prices, "ENDPOINT", url),
            mock.patch.object(charts, "index_of", return_value=f"{url}/charts/index.yaml"),
        ):
            yield url


if __name__ == "__main__":
    os.chdir(_PROJECT)
    answers = Answers(workload="training", gpus=32)
    chosen = shown(document_of(decide(answers), answers.region))
    draw(_PROJECT / "docs" / "init.svg", chosen, "aks-infiniband init --workload training --gpus 32")
    with _azure() as endpoint:
        lines = looking.look(Path("Pulumi.dev.yaml"), SUBSCRIPTION, endpoint)
    draw(_PROJECT / "docs" / "preflight.svg", shown_lines(lines), "aks-infiniband preflight -s dev")
