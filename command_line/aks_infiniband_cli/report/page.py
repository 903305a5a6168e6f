"""Reports as one HTML file that needs no other file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from aks_infiniband.validation.reports import as_text, kinds_of, measured_text, severity, shown_bytes
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.figure import Figure

from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.report import plots

_MAPPED: Final = ("rdma-write-bandwidth", "rdma-read-bandwidth", "rdma-read-latency")
"""Figures that are drawn as a heat map."""


@dataclass(frozen=True, kw_only=True)
class Plot:
    """One plot of one pool."""

    name: str
    """Name of its file, without the ending."""
    caption: str
    figure: Figure


def plots_of(report: Mapping[str, Any]) -> list[Plot]:
    """Every plot for which a report has data."""
    pool, size = report["pool"], report["vm_size"]
    drawn = []
    collective = report.get("collective")
    if collective:
        caption = f"All-reduce, pool {pool} ({size}): bus bandwidth over message size"
        figure = plots.bandwidth(collective, caption)
        if figure is not None:
            drawn.append(Plot(name=f"{pool}-all-reduce", caption=caption, figure=figure))
    for name in _MAPPED:
        rows = [row for row in report.get("rdma") or [] if row["figure"] == name]
        threshold = (report.get("thresholds") or {}).get(name)
        unit = f", {threshold['unit']}" if threshold else ""
        caption = f"{name}, pool {pool}: each HCA to its neighbour{unit}"
        figure = plots.heat_map(rows, threshold, caption)
        if figure is not None:
            drawn.append(Plot(name=f"{pool}-{name}", caption=caption, figure=figure))
    return drawn


def html(
    reports: Mapping[str, Mapping[str, Any]],
    plots_by_pool: Mapping[str, Sequence[Plot]],
    replaced: Sequence[Case] = (),
    machines: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The page: one section for each pool, one for what is known of machines since, and one for those that are or were
    replaced.
    """
    # Node names and causes come from a cluster, so they are escaped; the plots are made here.
    environment = Environment(loader=PackageLoader("aks_infiniband_cli.report", "."), autoescape=True, trim_blocks=True)
    environment.filters |= {"size": shown_bytes, "measured": measured_text, "text": as_text}
    drawn = {
        pool: [(plot, Markup(plots.inline_svg(plot.figure, plot.name))) for plot in of_pool]  # noqa: S704 our own drawing
        for pool, of_pool in plots_by_pool.items()
    }
    return environment.get_template("page.html.j2").render(
        reports=reports,
        plots=drawn,
        replaced=replaced,
        machines=machines,
        ordered=partial(sorted, key=severity),
        threshold=threshold_text,
        rates=rates,
        kinds=kinds_of,
    )


def threshold_text(check: Mapping[str, Any]) -> str:
    """The limits of a figure, and their source."""
    bound = check.get("threshold")
    if not bound:
        return ""
    unit = check.get("unit") or ""
    limits = [f"{name} {bound[name]:g} {unit}" for name in ("expected", "warn", "fail") if bound.get(name) is not None]
    return f"{', '.join(limits)} – {bound['basis']}: {bound['source']}"


def rates(collective: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs side by side: one row for each size, with one cell for each run."""
    runs = collective["runs"]
    sizes = sorted({size["bytes"] for run in runs for size in run["sizes"]})
    by_run = [{size["bytes"]: size for size in run["sizes"]} for run in runs]
    return [{"bytes": size, "runs": [rates.get(size) for rates in by_run]} for size in sizes]
