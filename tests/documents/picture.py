"""Draws docs/rehearsal.svg from a real rehearsal of the stack `dev`, in two minutes."""

import sys
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from rich.console import Console

from rehearsal import cli

_PICTURE: Final = Path(__file__).parents[2] / "docs" / "rehearsal.svg"
_WIDTH: Final = 100
"""Columns of the terminal in the picture."""


def main() -> int:
    """Rehearse, and draw what a terminal shows, if all went well; the rehearsal's exit code."""
    console = Console(record=True, width=_WIDTH, force_terminal=True)
    console.print("$ make rehearse", highlight=False)
    with patch.object(cli, "Console", partial(lambda made, **_options: made, console)):
        code = cli.main(["up", "dev"])
    if code == 0:
        console.save_svg(str(_PICTURE), title="make rehearse")
    return code


if __name__ == "__main__":
    sys.exit(main())
