"""The Grafana dashboard, made of dashboard.yaml."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.facts.tables import table

_PROMETHEUS: Final = {"type": "prometheus", "uid": "${datasource}"}
_WIDTH: Final = 24
"""Columns of Grafana's grid."""
_LEGEND: Final = {"displayMode": "table", "placement": "right", "showLegend": True, "calcs": ["lastNotNull"]}
"""Below a graph, the names of two nodes' HCAs hid half of it and were cut off; next to it, the few long names of what
is wrong did (seen in Grafana 9.3.2, which gives a legend 35% of a panel's height or 60% of its width).
"""
_CHOICES: Final = {
    "pool": "label_values(aks_infiniband_expected_hcas, pool)",
    "node": 'label_values(aks_infiniband_expected_hcas{pool=~"$pool"}, node)',
}


def dashboard() -> str:
    """JSON as Grafana imports it (schema version 39, Grafana 11 and later)."""
    described = table(__package__, "dashboard.yaml")
    return json.dumps(
        {
            **described["dashboard"],
            "templating": {"list": list(_variables())},
            "panels": list(_panels(described["rows"])),
        },
        indent=1,
    )


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    for name, query in _CHOICES.items():
        yield {
            **{"name": name, "label": name.capitalize(), "type": "query", "datasource": _PROMETHEUS},
            **{"query": {"query": query, "refId": name}, "definition": query, "refresh": 2},
            **{"multi": True, "includeAll": True, "allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}},
        }


def _panels(rows: list[Any]) -> Iterator[dict[str, Any]]:
    """Each row's title, and its panels below it: four stats, or two graphs, side by side."""
    number, top = 0, 0
    for row in rows:
        number += 1
        at = {"h": 1, "w": _WIDTH, "x": 0, "y": top}
        yield {"id": number, "type": "row", "title": row["title"], "collapsed": False, "gridPos": at, "panels": []}
        top, left, height = top + 1, 0, 0
        for panel in row["panels"]:
            number += 1
            width, tall = (6, 4) if panel.get("kind") == "stat" else (12, 8)
            if left + width > _WIDTH:
                top, left = top + height, 0
            yield {"id": number, **_panel(panel), "gridPos": {"h": tall, "w": width, "x": left, "y": top}}
            left, height = left + width, tall
        top += height


def _panel(panel: Mapping[str, Any]) -> dict[str, Any]:
    steps = [{"color": "green", "value": None}]
    if "bad" in panel:
        steps.append({"color": "red", "value": panel["bad"]})
    return {
        "type": panel.get("kind", "timeseries"),
        "title": panel["title"],
        "datasource": _PROMETHEUS,
        "options": {} if "kind" in panel else _graph(panel),
        "fieldConfig": {
            # From 0, so that half a rate looks like half.
            "defaults": {
                **{"unit": panel.get("unit", "short"), "min": 0},
                "thresholds": {"mode": "absolute", "steps": steps},
            },
            "overrides": [],
        },
        "targets": [
            {
                **{"refId": chr(ord("A") + place), "datasource": _PROMETHEUS, "expr": query["expr"]},
                "legendFormat": query.get("legend", "__auto"),
            }
            for place, query in enumerate(panel["queries"])
        ],
    }


def _graph(panel: Mapping[str, Any]) -> dict[str, Any]:
    legend = _LEGEND | {"placement": panel.get("legend", _LEGEND["placement"])}
    return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
