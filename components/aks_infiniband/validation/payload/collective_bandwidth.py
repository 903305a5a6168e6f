"""The figures of the all-reduce against their thresholds: bus bandwidth, and the time of ten small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .checks import Check, make_check
from .collective_figures import SMALL_REPEATS
from .nccl_log import INFINIBAND_STAGED, PEER_TO_PEER, SOCKETS

_UNITS = {"all-reduce": "GB/s", "all-reduce-small": "s"}


def judge_bandwidth(run: Mapping[str, Any], expected: Mapping[str, Any]) -> list[Check]:
    """Bus bandwidth against the threshold of the transport that was used, and the time of ten small ones."""
    kind = "nvlink" if run["transport"] == PEER_TO_PEER else "infiniband"
    bound = expected["thresholds"].get(kind)
    checks = [_busbw(run, bound)]
    if run["small"] is not None:
        limit = expected["small"]
        checks.append(_judged("all-reduce-small", run["small"]["seconds"], limit, f"{SMALL_REPEATS} × 4 MiB", run))
    return checks


def _busbw(run: Mapping[str, Any], bound: Mapping[str, Any] | None) -> Check:
    found = judged_size(run["sizes"], bound)
    if found is None:
        asked = bound["fail"] if bound else None
        cause = run["stopped"] or "the run did not come to the size that is judged"
        return make_check("all-reduce", "not measured", expected=asked, measured=None, cause=cause)
    return _judged("all-reduce", found["bus_gb_per_s"], bound, f"{shown_bytes(found['bytes'])}, ring", run)


def judged_size(sizes: Sequence[Mapping[str, Any]], bound: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The size at which bandwidth is judged: the threshold's own, or the largest where it has none."""
    if bound is not None and bound.get("message_bytes"):
        return next((size for size in sizes if size["bytes"] == bound["message_bytes"]), None)
    return max(sizes, key=lambda size: int(size["bytes"]), default=None)


def _judged(name: str, value: float, bound: Mapping[str, Any] | None, what: str, run: Mapping[str, Any]) -> Check:
    """One figure against its bound; without one it is measured and not judged."""
    unit, tries = _UNITS[name], run.get("tries") if name == "all-reduce" else None
    shown = float(f"{value:.4g}")
    if bound is None:
        return make_check(name, "not judged", expected=None, measured=shown, unit=unit, tries=tries)
    limit, verdict = bound["fail"], "pass"
    if _worse(value, bound["fail"], bound):
        verdict = "fail"
    elif _worse(value, bound["warn"], bound):
        verdict, limit = "warn", bound["warn"]
    sign = "at least" if bound["better"] == "higher" else "at most"
    return make_check(
        name,
        verdict,
        expected=None if limit is None else f"{sign} {limit:g} {unit} ({what})",
        measured=shown,
        unit=unit,
        threshold=dict(bound),
        tries=tries,
        cause=None if verdict == "pass" else _slow_cause(run),
    )


def _worse(value: float, limit: float | None, bound: Mapping[str, Any]) -> bool:
    if limit is None:
        return False
    return value < limit if bound["better"] == "higher" else value > limit


def _slow_cause(run: Mapping[str, Any]) -> str:
    if run["transport"] in (SOCKETS, INFINIBAND_STAGED):
        return f"it went over {run['transport']}: see collective-transport"
    return (
        "where RDMA between the nodes is as fast as promised, NCCL does not use it well: no topology file, GPUs and "
        "HCAs paired across NUMA nodes, or PCI relaxed ordering off; where it is not, the slow HCA is the cause"
    )


def shown_bytes(count: int) -> str:
    """A message size as people write it."""
    for exponent, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << exponent:
            return f"{count / (1 << exponent):g} {unit}"
    return f"{count} B"
