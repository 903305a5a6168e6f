"""The figures that somebody has published, from the table `published.yaml`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from aks_infiniband.facts.baselines import Baseline
from aks_infiniband.facts.tables import table


def _rows(published: dict[str, Any]) -> Iterator[Baseline]:
    for entry in published["entries"]:
        shared = {key: value for key, value in entry.items() if key not in ("figures", "elsewhere_warns")}
        shared["vm_sizes"] = tuple(published["sizes"][entry["vm_sizes"]]) if "vm_sizes" in entry else ()
        shared["source"] = entry["source"].format_map(published["sources"])
        for figure, own in entry["figures"].items():
            row = Baseline(figure=figure, **shared, **own)
            yield row
            if entry.get("elsewhere_warns"):
                tuning, limit = f"{row.tuning}; on another size it only warns", row.warn or row.fail
                yield replace(row, vm_sizes=(), tuning=tuning, warn=limit, fail=None)


BASELINES: Final = tuple(_rows(table(__package__, "published.yaml")))
"""What is published, one row for each figure and circumstance."""
