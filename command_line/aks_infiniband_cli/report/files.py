"""The files that `report` makes."""

from pathlib import Path

from aks_infiniband_cli.report import page, plots
from aks_infiniband_cli.report.sources import Reports


def write(reports: Reports, folder: Path) -> list[Path]:
    """Write page and plots; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {name: page.plots_of(report) for name, report in reports.items()}
    html = folder / "report.html"
    html.write_text(page.html(reports, drawn), encoding="utf-8")
    written = [html]
    for found in drawn.values():
        for plot in found:
            written.append(folder / f"{plot.name}.png")
            written[-1].write_bytes(plots.image(plot.figure, "png", plot.name))
    return written
