"""What a validation's report says went wrong, as a table that a terminal can show, and what to do next."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aks_infiniband.diagnosis.view import Finding, Object, name_of
from aks_infiniband.validation.payload.report import REPORT_KEY, as_text, headline, measured_text

_MOST_ROWS: Final = 20
_WIDEST: Final = 48
"""Characters of a cell; the cause, which is last, may be longer."""
_MOST_DEVICES: Final = 3
"""Of so many devices the table has the names, of more the first, the last and how many they are."""
_HEAD: Final = ("CHECK", "WHERE", "EXPECTED", "MEASURED", "LIKELY CAUSE")
_ORDER: Final = ("fail", "not measured", "warn")


def report_of_run(config_maps: Sequence[Object], run: str) -> tuple[Object, dict[str, Any]] | None:
    """The ConfigMap with the report of a Job, by the Job's uid, and that report: one of an earlier Job is none."""
    for config_map in config_maps:
        report = _report(config_map.get("data") or {})
        if report.get("run") == run:
            return config_map, report
    return None


def report_findings(config_map: Object, report: Mapping[str, Any]) -> list[Finding]:
    """The table of what did not go well, and the next commands."""
    metadata = config_map["metadata"]
    name, namespace = metadata["name"], metadata["namespace"]
    rows = table_rows(report["checks"])
    lines = aligned([_HEAD, *rows[:_MOST_ROWS]])
    if len(rows) > _MOST_ROWS:
        lines.append(f"and {len(rows) - _MOST_ROWS} more in ConfigMap {name_of(config_map)}, key {REPORT_KEY}")
    key = REPORT_KEY.replace(".", "\\.")
    whole = f"kubectl -n {namespace} get configmap {name} -o jsonpath='{{.data.{key}}}'"
    return [
        Finding(what="\n".join([f"validation of {headline(report)}", *lines]), command=whole),
        Finding(
            what="the whole report, as a page with plots, is made from the cluster's kubeconfig",
            command="aks-infiniband report --kubeconfig FILE --out report",
        ),
        Finding(
            what="when it is mended, run `pulumi up` again: the next update measures anew",
            command="pulumi up",
        ),
    ]


def table_rows(checks: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Failures, then what was to be measured and was not, then warnings; what is the same on devices of one node is
    one row.
    """
    places: dict[tuple[str, ...], list[str]] = {}
    for verdict in _ORDER:
        for check in checks:
            if check["verdict"] != verdict or (verdict == "not measured" and not check["cause"]):
                continue
            devices = places.setdefault((verdict, check["node"] or "", *_cells(check)), [])
            devices += [check["device"]] if check["device"] else []
    return [
        (f"{name} (warning)" if verdict == "warn" else name, _where(node, devices), *rest)
        for (verdict, node, name, *rest), devices in places.items()
    ]


def _cells(check: Mapping[str, Any]) -> tuple[str, str, str, str]:
    seen = "not measured" if check["verdict"] == "not measured" else measured_text(check)
    return check["check"], _cut(as_text(check["expected"])), _cut(seen), check["cause"] or "-"


def _where(node: str, devices: Sequence[str]) -> str:
    if len(devices) > _MOST_DEVICES:
        devices = [f"{devices[0]} to {devices[-1]}, {len(devices)} in all"]
    names = ", ".join(devices)
    if not node:
        return names or "the pool"
    return f"{node} ({names})" if names else node


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, every column but the last as wide as its widest cell."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)) + f"  {row[-1]}"
        for row in rows
    ]


def _report(data: Mapping[str, str]) -> dict[str, Any]:
    try:
        report = json.loads(data.get(REPORT_KEY) or "{}")
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}
