"""The knowledge of a stack's pools when an update has ended: its own measurements, and those of an earlier one."""

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx2
from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ConfigError
from lightkube.resources.core_v1 import ConfigMap

Reports = Mapping[str, Mapping[str, Any]]
"""By pool, a report, or what the outputs say of one, without checks."""
_KEEPER: Final = "pulumi:index:Stash"
_LABELS: Final[dict[str, Any]] = {
    "app.kubernetes.io/name": "validation",
    "app.kubernetes.io/component": "report",
    "app.kubernetes.io/managed-by": "pulumi",
}
_KEY: Final = "report.json.gz"


@dataclass(frozen=True, kw_only=True)
class Known:
    """The knowledge of the pools."""

    measured: Reports = field(default_factory=dict)
    """By this update."""
    before: Reports = field(default_factory=dict)
    """By an earlier one: of pools that this one has not measured."""


def known(reports: Reports, begun: float) -> Known:
    """Reports told apart by when they were made. begun: of the update, in seconds since 1970.

    A pool that is not measured at all (mode off) lacks a time, and belongs to this update.
    """
    old = {pool for pool, report in reports.items() if report.get("finished") and finished(report) < int(begun)}
    return Known(
        measured={pool: report for pool, report in reports.items() if pool not in old},
        before={pool: report for pool, report in reports.items() if pool in old},
    )


def finished(report: Mapping[str, Any]) -> float:
    """The time of a report, in seconds since 1970; it lacks fractions."""
    return datetime.fromisoformat(report["finished"]).astimezone(UTC).timestamp()


def reports_of(outputs: Mapping[str, Any], deployment: Mapping[str, Any]) -> dict[str, Any]:
    """By pool, its validation's report, which the engine's state has compressed; without one, what the outputs say."""
    pools = outputs.get("pools")
    named = pools.items() if isinstance(pools, dict) else ()  # another program means something else by it
    summaries = {name: pool["validation"] for name, pool in named if isinstance(pool, dict) and "validation" in pool}
    reports = {name: _in_short(summary) for name, summary in summaries.items() if isinstance(summary, dict)}
    for resource in deployment.get("resources") or ():
        kept = resource.get("outputs", {}).get("output") if resource["type"] == _KEEPER else None
        if kept and isinstance(kept, str):  # others keep more than a text
            report = _unpacked(kept)
            reports[report["pool"]] = report
    return reports


def _in_short(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A report without checks, of the outputs' summary."""
    return {**summary, "coverage": {"summary": summary["coverage"]}, "checks": []}


def left_in(kubeconfig: Path) -> dict[str, Any]:
    """By pool, the report that its last Job has left in the cluster: of a Job that has failed the state keeps none.

    Nothing without a cluster, or if it does not answer.
    """
    try:
        client = Client(config=KubeConfig.from_file(kubeconfig), trust_env=False)
        listed = [config_map.to_dict() for config_map in client.list(ConfigMap, namespace="*", labels=_LABELS)]
    except (httpx2.HTTPError, ConfigError, OSError, ValueError):
        return {}
    return {report["pool"]: report for report in _reports(listed)}


def _reports(config_maps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for config_map in config_maps:
        packed = (config_map.get("binaryData") or {}).get(_KEY)
        if packed:
            yield _unpacked(packed)


def _unpacked(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return report
