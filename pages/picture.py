"""Draws docs/rehearsal.svg, the end of a rehearsal of the stack `dev`, from what `make rehearse` has left of it."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from rehearsal.engine.events import Step
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.reports import Known
from rehearsal.outcome.summary import Since, print_summary

_PROJECT: Final = Path(__file__).parents[1]
_WIDTH: Final = 100
"""Columns of the terminal in the picture."""
_FONTS: Final = "ui-monospace, Menlo, Consolas, monospace"


def svg_format() -> str:
    """Rich's form of a picture without its web fonts: a picture in our README loads nothing from elsewhere."""
    without_web_fonts = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return without_web_fonts.replace("Fira Code, monospace", _FONTS)


if __name__ == "__main__":
    result = json.loads((_PROJECT / ".rehearsal" / "dev" / "result.json").read_text(encoding="utf-8"))
    seen = Progress(console=Console(quiet=True))
    for made in result["resources"]:
        custom = not made["type"].startswith(("aks-infiniband:", "pulumi:pulumi:Stack"))
        seen.show(
            Step(
                urn=made["urn"],
                operation=made["status"],
                begun=made["start_s"],
                ended=made["end_s"],
                custom=custom,
            )
        )
    console = Console(record=True, width=_WIDTH, file=StringIO())
    print_summary(console, seen.steps, result["outputs"], Known(measured=result["validation"]), since=Since())
    console.save_svg(str(_PROJECT / "docs" / "rehearsal.svg"), title="make rehearse", code_format=svg_format())
