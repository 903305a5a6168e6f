"""The plots of a pool: bus bandwidth over message size, and node by HCA."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import matplotlib as mpl
from aks_infiniband.validation.reports import shown_bytes
from matplotlib.figure import Figure

_NAMES: Final = {"ring": "ring (judged)", "nccl": "NCCL's own choice"}
_COLOURS: Final = {"ring": "#0b6bcb", "nccl": "#8a5cb8"}
_LINE, _LIMIT, _MISSING = "#444444", "#c0392b", "#d9d9d9"
_TITLE_INCHES: Final = 0.1
"""Room for a letter of a title: a pool with one HCA is narrower than its title."""
_MOST_ANNOTATED: Final = 256
"""Cells up to which each shows its number."""
_DOTS, _MOST_DOTS = 150, 60_000
"""Dots of an inch, and of a side: matplotlib draws none of 65,536 or more."""
as_written: Final = mpl.rc_context({"text.parse_math": False})
"""Decorates functions that draw: a $ in a name is not a formula."""


@as_written
def bandwidth(collective: Mapping[str, Any], title: str) -> Figure | None:
    """Bus bandwidth of each run over message size, against what the ports carry; None without a measurement."""
    runs = [run for run in collective["runs"] if run["sizes"]]
    if not runs:
        return None
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots()
    for run in runs:
        sizes = [size["bytes"] for size in run["sizes"]]
        values = [size["bus_gb_per_s"] for size in run["sizes"]]
        name, colour = _NAMES.get(run["tuning"], run["tuning"]), _COLOURS.get(run["tuning"])
        axes.plot(sizes, values, marker="o", color=colour, label=f"{name}: {run['transport']}")
    line = collective.get("line_gb_per_s")
    if line:
        axes.axhline(line, color=_LINE, linestyle="--", label=f"promised line: all ports, {line:g} GB/s")
    threshold = (collective.get("thresholds") or {}).get("infiniband")
    if threshold and threshold.get("fail") is not None:
        text = f"fails below {threshold['fail']:g} GB/s ({threshold['basis']})"
        axes.axhline(threshold["fail"], color=_LIMIT, linestyle=":", label=text)
    ticks = sorted({size["bytes"] for run in runs for size in run["sizes"]})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [shown_bytes(tick) for tick in ticks], rotation=45, ha="right")
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("message size")
    axes.set_ylabel("bus bandwidth, GB/s")
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(loc="best", fontsize="small")
    return figure


@as_written
def heat_map(rows: Sequence[Mapping[str, Any]], threshold: Mapping[str, Any] | None, title: str) -> Figure | None:
    """A figure of every HCA of every node, by rail, as a client of its neighbour; None if it was not measured.

    rows: of one figure. A cell without a value is grey.
    """
    neighbours = [row for row in rows if row.get("neighbours", True)]
    cells = {(row["node"], row.get("rail", row["device"])): row["value"] for row in neighbours}
    if not cells:
        return None
    nodes = sorted({node for node, _ in cells})
    rails = sorted({rail for _, rail in cells})
    missing = {(node, rail): math.nan for node in nodes for rail in rails}
    shown = {**missing, **{place: float(value) for place, value in cells.items() if value is not None}}
    values = [[shown[node, rail] for rail in rails] for node in nodes]
    known = [value for line in values for value in line if not math.isnan(value)]
    width = max(2.5 + 0.9 * len(rails), _TITLE_INCHES * len(title))
    figure = Figure(figsize=(width, 1.8 + 0.42 * len(nodes)), layout="constrained")
    axes = figure.subplots()
    least, most = _scale(known, threshold)
    better = (threshold or {}).get("better", "higher")
    colours = mpl.colormaps["RdYlGn" if better == "higher" else "RdYlGn_r"].with_extremes(bad=_MISSING)
    image = axes.imshow(values, aspect="auto", cmap=colours, vmin=least, vmax=most)
    axes.set_xticks(range(len(rails)), rails, rotation=45, ha="right")
    axes.set_yticks(range(len(nodes)), nodes)
    figure.suptitle(title, fontsize="large")
    figure.colorbar(image, ax=axes, label=str((threshold or {}).get("unit", "")))
    if len(nodes) * len(rails) <= _MOST_ANNOTATED:
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                axes.text(x, y, "–" if math.isnan(value) else f"{value:.4g}", ha="center", va="center", fontsize=8)
    return figure


@as_written
def image(figure: Figure, kind: str, name: str) -> bytes:
    """The figure as `png` or `svg`; its name keeps its identifiers apart from those of other plots of one page."""
    buffer = io.BytesIO()
    # The same reports make the same file: no date, no random identifiers.
    with mpl.rc_context({"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of letters that the font lacks, and of names that leave no room
        dpi = min(_DOTS, _MOST_DOTS / max(figure.get_size_inches()))
        figure.savefig(buffer, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else {})
    return buffer.getvalue()


def inline_svg(figure: Figure, name: str) -> str:
    """The figure as SVG for a page, without the parts that only a separate file has: declaration and document type."""
    text = image(figure, "svg", name).decode()
    return text[text.index("<svg") :]


def _scale(known: Sequence[float], threshold: Mapping[str, Any] | None) -> tuple[float, float]:
    """The ends of the colour scale: the least and the most of the values, and the limit. With the limit a pool of good
    HCAs is not shown half in red.
    """
    if not known:
        return 0.0, 1.0
    limit = (threshold or {}).get("fail")
    ends = [*known, *([] if limit is None else [limit * 0.9, limit * 1.1])]
    return min(ends), max(ends)
