"""The figures that somebody has published, from the table `published.yaml`."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from typing import Any, Final

import yaml

from aks_infiniband.facts.baselines import Baseline


def _rows(table: dict[str, Any]) -> Iterator[Baseline]:
    for entry in table["entries"]:
        shared = {key: value for key, value in entry.items() if key not in ("figures", "elsewhere_warns")}
        shared["vm_sizes"] = tuple(table["sizes"][entry["vm_sizes"]]) if "vm_sizes" in entry else ()
        shared["source"] = entry["source"].format_map(table["sources"])
        for figure, own in entry["figures"].items():
            row = Baseline(figure=figure, **shared, **own)
            yield row
            if entry.get("elsewhere_warns"):
                tuning, limit = f"{row.tuning}; on another size it only warns", row.warn or row.fail
                yield replace(row, vm_sizes=(), tuning=tuning, warn=limit, fail=None)


_TABLE: Final = resources.files(__package__) / "published.yaml"
BASELINES: Final = tuple(_rows(yaml.safe_load(_TABLE.read_text(encoding="utf-8"))))
"""What is published, one row for each figure and circumstance."""
