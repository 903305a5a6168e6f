"""The difference between healthy machines, for a check that holds a machine against others: the recorded one, if any.

Limits of single figures say it in their own rows (facts/baselines/published.yaml, healthy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .checks import Check

HEALTHY: Mapping[str, str] = {
    "gpu-rate": "664 to 694 TFLOP/s of H100 on five hosts, 2026-11 (benchmark/results/gpus.yaml)",
    "gpu-to-host": "197 series of GPUs that copied alone, on three hosts (benchmark/results/gpus.yaml)",
    "gpu-from-host": "197 series of GPUs that copied alone, on three hosts (benchmark/results/gpus.yaml)",
    "gpu-to-gpu": "390.3 to 394.3 GB/s of two H100, and 13 runs of four (benchmark/results/gpus.yaml)",
    "all-reduce-pairs": "480.8 to 484.6 GB/s of 53 pairs (J. Zhang, NCCL AllReduce Scaling, 2026-03-03)",
}
"""The checks that hold a machine or a GPU against others and may fail, with what is recorded of healthy ones."""


def certain(checks: Sequence[Check], healthy: Mapping[str, str] = HEALTHY) -> list[Check]:
    """Checks of which none fails for a difference that healthy machines may have, as far as it is recorded."""
    return [{**check, "verdict": "warn"} if _is_unsure(check, healthy) else check for check in checks]


def _is_unsure(check: Check, healthy: Mapping[str, str]) -> bool:
    """True for a measured value that fails by the values of others, not by a limit, and without a record of
    how far healthy ones differ. A count is a whole number: it does not differ between healthy machines.
    """
    held_against_others = isinstance(check["measured"], float) and check["threshold"] is None
    return check["verdict"] == "fail" and held_against_others and check["check"] not in healthy
