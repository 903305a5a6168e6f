"""`make bench`: compute what deployments take at least, and write it into docs/benchmark.md."""

from benchmark.makespan.report import DOCUMENT, PLOT, draw, least, rendered

rows = list(least())
DOCUMENT.write_text(rendered(DOCUMENT.read_text(), rows))
draw(rows, PLOT)
