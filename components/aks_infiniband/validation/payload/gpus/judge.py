"""The GPUs that are throttled, sick or slow: pure functions over the findings of a pool's nodes.

NVML's facts are judged by themselves, and copies with the host by the rate that the link can reach. Another rate or
bandwidth is judged by the pool's other GPUs: what is good is their median, and how far from it is far is their median
absolute deviation. A GPU under load is at its limit of power, so healthy ones differ, and no single number says what a
rate has to be. A GPU on which others work is judged by what load does not change alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ..programs.endings import SILENT_NODE
from ..say.checks import Check, Details, Try, fails, make_check, not_measured, passes
from ..say.expectations import GpusPlan
from ..say.lines import spread
from ..say.outliers import Crowd, crowd_of
from ..say.steadiness import Spread, pointing
from ..talk.time_left import TIME_IS_UP
from .health import Placed, device_of, judge_health, with_identity
from .host_copies import CHECKS, judge_copies
from .others import judge_others, work_of_others
from .results import Gpu, NodeGpus

SURE_SHARE = 0.25
"""A GPU that lacks more is named however widely the others differ: no healthy one does."""
_LEAST_GPUS = 3
"""If two GPUs differ, nothing shows which is the bad one."""
_ABSENT = re.compile(r"invalid device ordinal|no CUDA-capable device")


def modified_z(count: int) -> float:
    """The modified z-score from which one of so many GPUs is slow.

    More than the usual 3.5, because a pool of 100 nodes has 800 GPUs, of which none may be named by chance; and more
    still of few GPUs, whose deviation is not well known (python -m benchmark.gpus computes the false alarms).
    """
    return 5 + 40 / count


class Figure(NamedTuple):
    """A figure of each GPU that the pool's others judge. warn and fail: so far below their median it is slow."""

    check: str
    unit: str
    of: Callable[[Gpu], Spread | None]
    warn: float
    fail: float
    steady: str
    """The likely cause of a steadily low figure."""


def _rate(gpu: Gpu) -> Spread | None:
    load = gpu.get("load")
    return load["rate"] if load else None


FIGURES = (
    # GPUs of one kind differ by 8 % on average, and the bad ones were up to 1.5 times slower than the median (Sinha et
    # al., "Not All GPUs Are Created Equal", SC 2022).
    Figure(
        "gpu-rate",
        "TFLOP/s",
        _rate,
        0.08,
        0.15,
        "the GPU itself, its cooling or its power; if NVML reports no reason (gpu-throttling), recreate the node",
    ),
    Figure("gpu-to-gpu", "GB/s", lambda gpu: gpu.get("to_peer"), 0.1, 0.25, "NVLinks of the GPU or its neighbour"),
)
_WIDE = "something comes and goes, such as other work on the node or its host, so measure again"
NAMES = (*(figure.check for figure in FIGURES), *CHECKS)

Tries = Sequence[Sequence[NodeGpus]]
"""The findings of the nodes, by try; the last counts."""


def judge_gpus(tries: Tries, plan: GpusPlan, nodes: Collection[str]) -> list[Check]:
    """All checks of a pool's GPUs. nodes: those that took part."""
    answers = tries[-1] if tries else []
    answered = {one["node"] for one in answers}
    if not answers:
        return [not_measured("gpu-rate", TIME_IS_UP)]
    checks = [not_measured("gpu-rate", SILENT_NODE, node=node) for node in nodes if node not in answered]
    gpus: list[Placed] = [(one["node"], gpu) for one in answers for gpu in one["gpus"]]
    alone = [(node, gpu) for node, gpu in gpus if not work_of_others(gpu)]
    checks += [*_present(answers, plan), *_ended(alone), *judge_health(answers)]
    checks += judge_others([(node, device_of(gpu), gpu) for node, gpu in gpus if gpu["pci"]])
    if not alone:
        return [*checks, *(make_check(name, "not measured", expected=None, measured=_OTHERS) for name in NAMES)]
    for figure in FIGURES:
        checks += _judge(figure, alone, tries)
    for name, of in CHECKS.items():
        checks += judge_copies(name, alone, lambda place, of=of: [_try(of, made, place) for made in tries])  # type: ignore[misc]
    return checks


_OTHERS = "others work on every GPU"


def falls_short(tries: Tries, plan: GpusPlan) -> bool:
    """True if something is to be measured again that another time may be better."""
    again = {*NAMES, "gpu-throttling", "gpu-pcie"}
    nodes = [one["node"] for one in tries[-1]]
    return any(check["verdict"] == "fail" and check["check"] in again for check in judge_gpus(tries, plan, nodes))


def _is_absent(gpu: Gpu) -> bool:
    return gpu["pci"] is None and bool(_ABSENT.search(gpu.get("problem") or ""))


def _present(answers: Sequence[NodeGpus], plan: GpusPlan) -> list[Check]:
    """Check that every node has all its GPUs, and find the one it lacks: that at an address at which other nodes have
    one.
    """
    asked, checks = plan["count"], []
    addresses = {one["node"]: [gpu["pci"] for gpu in one["gpus"] if gpu["pci"]] for one in answers}
    whole = {tuple(sorted(there)) for there in addresses.values() if len(there) == asked}
    for one in answers:
        absent = sum(map(_is_absent, one["gpus"]))
        if not absent:
            continue
        usual = next(iter(whole)) if len(whole) == 1 else ()
        lost = [address for address in usual if address not in addresses[one["node"]]]
        where = f"that at {', '.join(lost)}, and the other nodes have one" if lost else f"{absent} of {asked}"
        cause = (
            f"a GPU has dropped off the bus, or the pod was not given it: {where}. Look for Xid 79 (dmesg | grep -i "
            "xid), and recreate the node"
        )
        device = f"GPU at {', '.join(lost)}" if lost else None
        checks.append(fails("gpu-count", asked, asked - absent, cause, node=one["node"], device=device))
    return checks or [passes("gpu-count", asked)]


def _ended(gpus: Sequence[Placed]) -> list[Check]:
    """The GPUs that are there and came to no end."""
    asked = "copies and products, to their end"
    return [
        fails("gpu-load", asked, gpu["problem"], str(gpu.get("cause")), node=node, device=device_of(gpu))
        for node, gpu in gpus
        if gpu.get("problem") and not _is_absent(gpu)
    ]


def _judge(figure: Figure, gpus: Sequence[Placed], tries: Tries) -> list[Check]:
    """One figure of some GPUs: each that is far below the others, or one check that says that there is none."""
    measured = {place: figures for place, (_, gpu) in enumerate(gpus) if (figures := figure.of(gpu))}
    if not measured:
        said = sorted({word for _, gpu in gpus for word in gpu.get("said", [])})
        return [make_check(figure.check, "not measured", expected=None, measured="; ".join(said) or None)]
    crowd = crowd_of(figures["median"] for figures in measured.values())
    checks = []
    for place, figures in measured.items():
        lacks = crowd.middle - figures["median"]
        far = crowd.is_far(lacks, share=figure.warn, z=modified_z(len(measured)))
        if len(measured) >= _LEAST_GPUS and (far or lacks > SURE_SHARE * crowd.middle):
            earlier = [_try(figure.of, made, gpus[place]) for made in tries]
            checks.append(_slow(figure, *gpus[place], crowd, earlier))
    if checks:
        return checks
    asked = f"no GPU {figure.warn:.0%} below the pool's median and outside its spread"
    widest = max(measured.values(), key=lambda figures: figures["deviation"])
    shares = spread(figures["median"] for figures in measured.values())
    seen = f"{shares} {figure.unit}; of one GPU at most {widest['deviation']:.1%} deviation"
    return [passes(figure.check, asked, seen)]


def _slow(figure: Figure, node: str, gpu: Gpu, crowd: Crowd, tries: Sequence[Try]) -> Check:
    figures = figure.of(gpu)
    assert figures is not None
    lacks = 1 - figures["median"] / crowd.middle
    asked = f"at least {crowd.middle * (1 - figure.fail):.4g} {figure.unit} ({1 - figure.fail:.0%} of the median)"
    cause = f"{lacks:.0%} below the pool's median of {crowd.middle:.4g} {figure.unit}: "
    cause += pointing(figures, steady=figure.steady, wide=_WIDE) or figure.steady
    if figure.check == "gpu-rate":
        cause += _beside(gpu)
    more: Details = {
        "node": node,
        "device": device_of(gpu),
        "unit": figure.unit,
        "tries": tries if len(tries) > 1 else None,
        "spread": figures,
        "cause": with_identity(cause, gpu),
    }
    verdict = "fail" if lacks > figure.fail else "warn"
    return make_check(figure.check, verdict, expected=asked, measured=figures["median"], **more)


def _beside(gpu: Gpu) -> str:
    """NVML's readings of a slow GPU under load."""
    load = gpu["load"]
    reasons = ", ".join(f"{name} in {share:.0%}" for name, share in load["reasons"].items()) or "none"
    read: Mapping[str, Spread | None] = {
        "W": load["power"],
        "MHz": load["sm_clock"],
        "°C": load["temperature"],
    }
    told = ", ".join(f"{figures['median']:g} {unit}" for unit, figures in read.items() if figures)
    return f"; under load {told}; reasons of lower clocks: {reasons}"


def _try(of: Callable[[Gpu], Spread | None], made: Sequence[NodeGpus], place: Placed) -> Try:
    theirs = [gpu for one in made if one["node"] == place[0] for gpu in one["gpus"]]
    gpu = next((gpu for gpu in theirs if gpu["number"] == place[1]["number"]), None)
    figures = of(gpu) if gpu else None
    return {"value": figures["median"] if figures else None, "error": gpu.get("problem") if gpu else SILENT_NODE}
