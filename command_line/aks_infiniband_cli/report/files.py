"""The files that `report` makes."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.report import page, plots
from aks_infiniband_cli.report.sources import Reports

_PLAIN: Final = r"[a-z0-9][a-z0-9-]{0,99}"
"""The form of the names of every pool and figure of ours."""


def write(
    reports: Reports,
    folder: Path,
    replaced: Sequence[Case] = (),
    machines: Sequence[Mapping[str, Any]] = (),
) -> list[Path]:
    """Write page and plots; returns their paths.

    replaced: machines that are or were replaced. machines: what is known of some since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {name: page.plots_of(report) for name, report in reports.items()}
    html = folder / "report.html"
    html.write_text(page.html(reports, drawn, replaced, machines), encoding="utf-8")
    written = [html]
    for of_pool in drawn.values():
        for plot in of_pool:
            written.append(folder / f"{file_name(plot.name)}.png")
            written[-1].write_bytes(plots.image(plot.figure, "png", plot.name))
    return written


def file_name(name: str) -> str:
    """The name of a file, without its ending, for something that others have named: it lies in no other folder.

    A plain name stays as it is. Any other one is cut down to its letters and digits, and a part of its hash behind an
    underscore keeps it apart from every other name.
    """
    if re.fullmatch(_PLAIN, name):
        return name
    letters = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-")
    return f"{letters}_{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:12]}"
