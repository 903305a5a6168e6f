"""The timeline of a rehearsal's update, drawn by the command line."""

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console


def draw(console: Console, *, result: Path, state: Path, folder: Path) -> None:
    """Make timeline.html and timeline.png, and print the longest links of the chain.

    result: the rehearsal's result file; state: the engine's; folder: of the new files.
    """
    command = [str(Path(sys.executable).with_name("aks-infiniband")), "timeline"]
    files = ["--result", str(result), "--state", str(state), "--out", str(folder)]
    environment = {**os.environ, "TMPDIR": str(folder)}  # for matplotlib, if the user does not have a home
    drawn = subprocess.run([*command, *files], capture_output=True, text=True, check=False, env=environment)
    if drawn.returncode:
        console.print(drawn.stderr.strip(), style="yellow", markup=False, highlight=False)
    else:
        console.print("The steps that made the update long:", style="bold")
        console.print(drawn.stdout.rstrip(), markup=False, highlight=False)
