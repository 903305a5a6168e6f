"""NVML's facts on a pool's GPUs: the reasons of low clocks under load, PCIe links, errors of memory, NVLinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..say.checks import Check, fails, make_check, passes
from .others import work_of_others
from .results import Gpu, NodeGpus

THROTTLED = (
    "hardware slowdown",
    "hardware thermal slowdown",
    "hardware power brake",
    "software thermal slowdown",
)
"""Reasons that a healthy GPU never has. The software power cap is not among them: an H100 under full load is at its
limit of 700 W in every reading (docs/measurements.md), and Azure's node health checks let it pass as well
(azurehpc-health-checks, azure_gpu_clock_throttling.nhc)."""
_OFTEN = 0.1
"""Share of the readings under load: a reason in more of them fails, one in any of them warns (assumed)."""
_SETTINGS = ("applications clocks setting", "sync boost", "display clock setting")
_WHY = {
    "hardware slowdown": "the GPU is too hot, or its power supply makes it slow down",
    "hardware thermal slowdown": "the GPU is too hot: its cooling has failed",
    "hardware power brake": "the machine's power supply makes it slow down",
    "software thermal slowdown": "the GPU or its memory is hotter than it may be: its cooling is weak",
}

Placed = tuple[str, Gpu]
"""A GPU, and its node."""


def device_of(gpu: Gpu) -> str:
    """A GPU as checks name it: nvidia-smi's number and the PCI address, if they are known."""
    number = gpu["number"] if gpu["index"] is None else gpu["index"]
    return f"GPU {number} at {gpu['pci']}" if gpu["pci"] else f"GPU {number}"


def with_identity(cause: str, gpu: Gpu) -> str:
    """A cause, and what else names the GPU: its UUID and its board's serial number."""
    known = [word for word in (gpu["uuid"], gpu.get("serial") and f"serial {gpu.get('serial')}") if word]
    return f"{cause} ({', '.join(known)})" if known else cause


def judge_health(answers: Sequence[NodeGpus]) -> list[Check]:
    """The checks of everything that NVML reports. Clocks are judged only if no other process works on the GPU."""
    gpus = [(one["node"], gpu) for one in answers for gpu in one["gpus"] if gpu["pci"]]
    kinds: dict[str, tuple[str, Callable[[Sequence[Placed]], Iterator[Check]], Callable[[Gpu], bool]]] = {
        "gpu-throttling": (
            "no reason of lower clocks but the power cap",
            _throttling,
            lambda gpu: gpu.get("load", {"sm_clock": None})["sm_clock"] is not None and not work_of_others(gpu),
        ),
        "gpu-pcie": (
            "the width and generation that GPU and machine can have",
            _pcie,
            lambda gpu: "pcie" in gpu and gpu["pcie"]["width"] is not None,
        ),
        "gpu-memory": (
            "no uncorrected error, no row that waits or failed to be replaced",
            _memory,
            lambda gpu: "memory" in gpu and gpu["memory"]["uncorrected"] is not None,
        ),
        "gpu-nvlinks": ("as many as the pool's other GPUs", _nvlinks, lambda gpu: gpu.get("nvlinks") is not None),
    }
    checks = []
    for name, (asked, judge, is_told) in kinds.items():
        told = [(node, gpu) for node, gpu in gpus if is_told(gpu)]
        problems = list(judge(told))
        said = "; ".join(sorted({word for _, gpu in gpus for word in gpu.get("said", [])}))
        if not told:
            problems = [make_check(name, "not measured", expected=asked, measured=said or "NVML does not tell")]
        checks += problems or [passes(name, asked)]
    return checks


def _throttling(gpus: Sequence[Placed]) -> Iterator[Check]:
    asked = "no reason of lower clocks but the power cap"
    usual = {name for name in _SETTINGS if _share(gpus, name) > len(gpus) / 2}
    for node, gpu in gpus:
        reasons = gpu["load"]["reasons"]
        bad = {name: reasons[name] for name in THROTTLED if name in reasons}
        seen = ", ".join(f"{name} in {share:.0%} of readings under load" for name, share in bad.items())
        place: dict[str, Any] = {"node": node, "device": device_of(gpu)}
        if bad:
            why = "; ".join(_WHY[name] for name in bad)
            heat = gpu["load"]["temperature"]
            at = f", {heat['most']:g} °C at the most" if heat else ""
            cause = with_identity(f"{why}{at}. Trainings wait for their slowest GPU: recreate the node", gpu)
            verdict = "fail" if max(bad.values()) >= _OFTEN else "warn"
            yield make_check("gpu-throttling", verdict, expected=asked, measured=seen, cause=cause, **place)
        set_low = [name for name in _SETTINGS if name in reasons and name not in usual and reasons[name] >= 0.5]
        if set_low:
            cause = with_identity("its clocks are set lower than those of the other GPUs: nvidia-smi -q -d CLOCK", gpu)
            seen = ", ".join(set_low)
            yield make_check("gpu-throttling", "warn", expected=asked, measured=seen, cause=cause, **place)


def _share(gpus: Sequence[Placed], reason: str) -> int:
    return sum(reason in gpu["load"]["reasons"] for _, gpu in gpus)


def due_link(gpus: Sequence[Gpu]) -> tuple[int, int]:
    """Width and generation that most PCIe links of a pool have; 0 if NVML reports none."""
    links = [gpu["pcie"] for gpu in gpus if "pcie" in gpu]
    return _usual(link["width"] for link in links), _usual(link["generation"] for link in links)


def _pcie(gpus: Sequence[Placed]) -> Iterator[Check]:
    usual_width, usual_generation = due_link([gpu for _, gpu in gpus])
    for node, gpu in gpus:
        link = gpu["pcie"]
        width = max(link["most_width"] or 0, usual_width)
        generation = max(link["most_generation"] or 0, usual_generation)
        if (link["width"] or 0) < width or (link["generation"] or 0) < generation:
            cause = with_identity(
                "the link trained with fewer lanes or at another speed than GPU and machine can have: what moves to "
                "and from the host, and to HCAs, is as much slower. Recreate the node",
                gpu,
            )
            asked, seen = f"generation {generation}, x{width}", f"generation {link['generation']}, x{link['width']}"
            yield fails("gpu-pcie", asked, seen, cause, node=node, device=device_of(gpu))


def _usual(values: Iterable[Any]) -> int:
    """The most frequent value."""
    counted = Counter(value for value in values if value is not None)
    return int(counted.most_common(1)[0][0]) if counted else 0


def _memory(gpus: Sequence[Placed]) -> Iterator[Check]:
    asked = "no uncorrected error, no row that waits or failed to be replaced"
    for node, gpu in gpus:
        memory = gpu["memory"]
        seen = []
        if memory["uncorrected"]:
            seen.append(f"{memory['uncorrected']} uncorrected errors since the driver was loaded")
        if memory["pending"]:
            seen.append("rows wait for a reset of the GPU to be replaced")
        if memory["failed"]:
            seen.append("no spare row was left for one that failed")
        if seen:
            what = (
                "its memory is broken for good: recreate the node, and report it to Azure"
                if memory["failed"]
                else "its memory had errors: restart the machine, so that rows are replaced, and measure again"
            )
            cause = with_identity(what, gpu)
            yield fails("gpu-memory", asked, "; ".join(seen), cause, node=node, device=device_of(gpu))


def _nvlinks(gpus: Sequence[Placed]) -> Iterator[Check]:
    usual = _usual(gpu["nvlinks"] for _, gpu in gpus)
    for node, gpu in gpus:
        if (gpu["nvlinks"] or 0) < usual:
            cause = with_identity("NVLinks are down: look for Xid 74, and at nvidia-fabricmanager on the node", gpu)
            yield fails("gpu-nvlinks", usual, gpu["nvlinks"], cause, node=node, device=device_of(gpu))
