"""The stand-ins' charts of every release, as a rehearsal makes them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from rehearsal.stack.stand_in_charts import RELEASES, STAND_IN_CHARTS, stand_in

_MADE = TemporaryDirectory(prefix="stand-ins-")
OPERATORS = ("network-operator", "gpu-operator")
DRA_DRIVER = "dra-driver-nvidia-gpu"
CHARTS = [(release, chart) for release in RELEASES for chart in OPERATORS]
"""Release and name of every one."""


@cache
def chart_of(release: str, name: str) -> Path:
    """The folder of a chart. name: one of OPERATORS, or what all releases share: DRA_DRIVER, node-feature-discovery."""
    if name not in OPERATORS:
        return STAND_IN_CHARTS / name
    return stand_in(release, name, into=Path(_MADE.name))
