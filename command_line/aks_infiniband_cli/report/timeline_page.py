"""The timeline as a picture, and as a page of one file with the chain's links as a table."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from aks_infiniband_cli.report import plots
from aks_infiniband_cli.report.timeline import Link, Span, clock, longest_chain, waited_for

_OPERATION, _CHAIN, _WAITED = "#9db7cf", "#d9480f", "#444444"


@plots.as_written
def picture(spans: Sequence[Span], chain: Sequence[Link], title: str) -> Figure:
    """A bar for each resource, first started first; those of the longest chain stand out, and what it waited for."""
    links = {(link.name, link.waited): link for link in chain}
    figure = Figure(figsize=(8.5, 1.6 + 0.22 * len(spans)), layout="constrained")
    axes = figure.subplots()
    end = max(span.end for span in spans) or 1.0
    for row, span in enumerate(spans):
        colour = _CHAIN if (span.name, False) in links else _OPERATION
        axes.barh(row, max(span.seconds, end / 400), left=span.start, height=0.7, color=colour)
        waited = links.get((span.name, True))
        if waited:
            axes.hlines(row, waited.start, waited.end, color=_WAITED, linestyle=":", linewidth=1.5)
        axes.text(span.end + end / 150, row, clock(span.seconds), va="center", fontsize=9)
    axes.set_yticks(range(len(spans)), [span.name for span in spans], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, end * 1.12)
    axes.set_xlabel("seconds from the start of the update")
    axes.set_title(title)
    axes.grid(axis="x", alpha=0.3)
    handles = [
        Line2D([], [], color=_CHAIN, linewidth=6, label="longest chain"),
        Line2D([], [], color=_WAITED, linestyle=":", label="the chain waits for the program or the engine"),
        Line2D([], [], color=_OPERATION, linewidth=6, label="beside it"),
    ]
    axes.legend(handles=handles, loc="lower left", fontsize="small")
    return figure


def html(spans: Sequence[Span], title: str) -> tuple[str, bytes]:
    """The page, and its picture as PNG."""
    chain = longest_chain(spans)
    figure = picture(spans, chain, title)
    environment = Environment(loader=PackageLoader("aks_infiniband_cli.report", "."), autoescape=True, trim_blocks=True)
    environment.filters |= {"clock": clock}
    drawing = Markup(plots.inline_svg(figure, "timeline"))  # noqa: S704 our own drawing
    page = environment.get_template("timeline.html.j2").render(
        title=title,
        drawing=drawing,
        chain=chain,
        waited_for=waited_for(spans),
        total=max(span.end for span in spans),
        sequence=sum(span.seconds for span in spans),
    )
    return page, plots.image(figure, "png", "timeline")
