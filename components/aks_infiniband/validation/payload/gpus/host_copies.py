"""Copies between GPUs and their hosts: which GPU has less than half of what its PCIe link can do.

A GPU copies alone, and still others may use the host's memory: on a host that virtual machines share, copies of healthy
GPUs had 27 to 55 GB/s, and once 44 without a change (docs/measurements.md). So one GPU is at fault only if the figure
is steady, and so low that only a link with half of its lanes, or of an earlier generation, explains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from ..say.checks import Check, Details, Try, make_check, passes
from ..say.lines import spread
from ..say.steadiness import Spread, is_steady, shown
from .health import Placed, device_of, due_link, with_identity
from .results import Gpu

CHECKS: Mapping[str, Callable[[Gpu], Spread | None]] = {
    "gpu-to-host": lambda gpu: gpu.get("to_host"),
    "gpu-from-host": lambda gpu: gpu.get("from_host"),
}
LINKS: Mapping[int, float] = {3: 9.0, 4: 21.0, 5: 48.0}
"""GB/s that Azure's node health checks require of a GPU with 16 lanes that copies alone, by PCIe generation: the least
of what V100, A100, and H100 and H200 have to reach (Azure/azurehpc-health-checks 0e0a1ac, conf/, check_gpu_bw,
2026-05-01).
"""
_LANES = 16
LEAST_SHARE = 2 / 3
"""Share of the required rate. With half of the lanes, or the generation before, an H100 has 27.6 of 48 GB/s, 57 %; the
lowest steady figure of a healthy one was 44, 92 % (benchmark/results/gpus.yaml).
"""
_UNIT = "GB/s"

Tries = Callable[[Placed], Sequence[Try]]
"""The measurements of a GPU, the last included."""


def judge_copies(name: str, gpus: Sequence[Placed], tries: Tries) -> list[Check]:
    """One of the two figures of all GPUs: each that its link does not explain, or one check that there is none."""
    measured = {place: figures for place, gpu in enumerate(gpus) if (figures := CHECKS[name](gpu[1]))}
    if not measured:
        said = sorted({word for _, gpu in gpus for word in gpu.get("said", [])})
        return [make_check(name, "not measured", expected=None, measured="; ".join(said) or None)]
    asked = _asked([gpu for _, gpu in gpus], measured.values())
    if asked is None:
        seen = spread(figures["median"] for figures in measured.values())
        return [make_check(name, "not judged", expected=None, measured=seen, unit=_UNIT)]
    least = LEAST_SHARE * asked
    low = [place for place, figures in measured.items() if figures["median"] < least]
    seen = f"{spread(figures['median'] for figures in measured.values())} {_UNIT}, each alone"
    if len(low) > max(_FEW, len(measured) / 2):
        expected = f"at least {least:.3g} {_UNIT} of most GPUs"
        return [make_check(name, "warn", expected=expected, measured=seen, cause=_MOST_ARE_LOW)]
    if not low:
        return [passes(name, f"at least {least:.3g} {_UNIT} if a figure is steady", seen)]
    return [_low(name, gpus[place], measured[place], asked, tries(gpus[place])) for place in low]


def _asked(gpus: Sequence[Gpu], spreads: Iterable[Spread]) -> float | None:
    """The rate that the links of a pool's GPUs can reach; if NVML does not report it, or it is not published, the rate
    of most.
    """
    width, generation = due_link(gpus)
    if generation in LINKS:
        return LINKS[generation] * (width or _LANES) / _LANES
    values = [one["median"] for one in spreads]
    return median(values) if len(values) > _FEW else None


_FEW = 2
"""If two GPUs differ, nothing shows which is the bad one."""
_MOST_ARE_LOW = (
    "most GPUs of the pool are low, so the cause is not one machine: look at what the size promises, and at other "
    "work on the hosts"
)


def _low(name: str, placed: Placed, figures: Spread, asked: float, tries: Sequence[Try]) -> Check:
    node, gpu = placed
    more: Details = {
        "node": node,
        "device": device_of(gpu),
        "unit": _UNIT,
        "tries": tries if len(tries) > 1 else None,
        "spread": figures,
    }
    expected = f"at least {LEAST_SHARE * asked:.3g} {_UNIT} (two thirds of what its link can do, {asked:.3g})"
    verdict = "fail" if is_steady(figures) else "not judged"
    if is_steady(figures):
        more["cause"] = with_identity(
            f"it copied alone, and is steadily low ({shown(figures)}): the PCIe link (gpu-pcie), or the way to its "
            "NUMA node's memory. Recreate the node",
            gpu,
        )
    else:
        more["cause"] = (
            f"it copied alone, and its repetitions differ ({shown(figures)}): something else uses the host's memory or "
            "the link, on this machine or next to it, so the figure says nothing of the GPU. Measure again when the "
            "machine is idle"
        )
    return make_check(name, verdict, expected=expected, measured=figures["median"], **more)
