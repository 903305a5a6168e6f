"""GPUs under load, and the work of others on them."""

from collections.abc import Callable, Mapping
from random import Random
from types import SimpleNamespace
from typing import Any, Final

from aks_infiniband.validation.payload.gpus.judge import judge_gpus
from aks_infiniband.validation.payload.gpus.load import Reading, summary
from aks_infiniband.validation.payload.gpus.others import Watch
from aks_infiniband.validation.payload.say.steadiness import spread_of

from benchmark.gpus import PLAN, pool_of
from tests.cases import Case, patched
from tests.unit.validation.cases.checks import Outcome, differing

HEALTHY: Final = {
    "pcie": {"generation": 5, "width": 16, "most_generation": 5, "most_width": 16},
    "memory": {"uncorrected": 0, "remapped": 0, "pending": False, "failed": False},
    "others": {"processes": 0, "mebibytes": 0, "busy": 0.0},
    "to_host": spread_of([55.1, 55.2]),
    "from_host": spread_of([55.1, 55.2]),
    "nvlinks": 18,
    "uuid": "GPU-1",
    "serial": "1",
}
_SPREADS: Final = ("rate", "to_host", "from_host")
"""Figures of which a case has the repetitions."""


def gpus_of(nodes: int, **change: Any) -> list[Any]:
    """A healthy pool except for the changes of GPU 3 of the last node."""
    made: list[Any] = pool_of(Random(nodes), nodes, deviation=0.009)
    for one in made:
        for gpu in one["gpus"]:
            gpu.update({**HEALTHY, "load": {**gpu["load"], "sm_clock": spread_of([1365.0, 1380.0])}})
    made[-1]["gpus"][3] = patched(made[-1]["gpus"][3], _with_spreads(change))
    return made


def _with_spreads(change: Any) -> Any:
    if not isinstance(change, Mapping):
        return change
    return {
        key: spread_of(item) if key in _SPREADS and isinstance(item, list) else _with_spreads(item)
        for key, item in change.items()
    }


def outcome_of_gpus(case: Case) -> Outcome:
    """A pool of `nodes`, measured in as many `tries`: `gpu` has the differences of GPU 3 of the last node from healthy
    ones, `first` those of all GPUs of the first node, `every` those of all GPUs. An `absent` GPU is not on the bus; of
    `silent` nodes nothing came.
    """
    nodes = case.get("nodes", 2)
    pool, sound = gpus_of(nodes, **case.get("gpu", {})), gpus_of(nodes)
    for number, one in enumerate(pool):
        for change in (case.get("every", {}), case.get("first", {}) if number == 0 else {}):
            one["gpus"] = [patched(gpu, _with_spreads(change)) for gpu in one["gpus"]]
    if "absent" in case:
        del pool[-1]["gpus"][3]
        pool[-1]["gpus"].append({"number": 7, "index": 7, "pci": None, "said": [], "problem": case["absent"]})
    names = [f"node-{number}" for number in range(nodes + case.get("silent", 0))]
    well = [each for each in judge_gpus([sound], PLAN, names[:nodes]) if each["verdict"] == "pass"]
    return differing(judge_gpus([pool] * case.get("tries", 1), PLAN, names), well)


def outcome_of_load(case: Case) -> Any:
    """Ten readings of a GPU, the first without a reason for lower clocks; or `steps` with what NVML shows then."""
    if "steps" not in case:
        readings = [Reading(680.0 + n, 700.0, 1365, 2619, 60, ["software power cap"] if n else []) for n in range(10)]
        return summary(readings, seconds=2.0, precision="bfloat16", limits=(700.0, 1980))
    shows: Any = SimpleNamespace(processes=0, mebibytes=3, busy=0.0)
    watch = Watch(shows)
    for step in case["steps"]:
        ((name, values),) = step.items()
        vars(shows).update(values)
        getattr(watch, name)(*((lambda _: None,) if name == "before" else ()))
    return watch.found


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"gpus": outcome_of_gpus, "load": outcome_of_load}
