"""Draws docs/rehearsal.svg, the end of a rehearsal of the stack `dev`, from what `make rehearse` has left of it."""

import json
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from rehearsal.outcome.summary import print_verdict
from rehearsal.outcome.tables import checks_table

_PROJECT: Final = Path(__file__).parents[1]
_WIDTH: Final = 100
"""Columns of the terminal in the picture."""
_FONTS: Final = "ui-monospace, Menlo, Consolas, monospace"


def svg_format() -> str:
    """Rich's form of a picture without its web fonts: a picture in our README loads nothing from elsewhere."""
    without_web_fonts = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return without_web_fonts.replace("Fira Code, monospace", _FONTS)


def print_result(console: Console, result: Mapping[str, Any]) -> None:
    """The verdict of each pool, then its figures with their limits, then what the update made."""
    for name, report in result["validation"].items():
        timeless = {key: value for key, value in report.items() if key != "finished"}
        print_verdict(console, name, result["outputs"]["pools"][name], timeless, every=False)
        console.print()
        console.print(checks_table(name, report, width=console.width, every=False))
    made = [each for each in result["resources"] if not each["type"].startswith(("aks-infiniband:", "pulumi:"))]
    seconds = max(each["end_s"] for each in made)
    console.print(f"\nmade: {len(made)} resources in {seconds:.0f} s; a real deployment takes about half an hour")


if __name__ == "__main__":
    terminal = Console(record=True, width=_WIDTH, file=StringIO())
    print_result(terminal, json.loads((_PROJECT / ".rehearsal/dev/result.json").read_text(encoding="utf-8")))
    terminal.save_svg(str(_PROJECT / "docs" / "rehearsal.svg"), title="make rehearse", code_format=svg_format())
