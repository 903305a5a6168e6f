"""The limits of a rehearsed stack's waits: as in reality by simulated time, and no less than this computer needs for
the stack. In real seconds.
"""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.stack.stack_file import NAMESPACE, opened

SIMULATED_SECONDS: Final[Mapping[str, int]] = {"readiness": 7200, "validation": 3600}
"""By setting: what a real deployment waits for."""
LEAST_SECONDS: Final[Mapping[str, int]] = {"readiness": 120, "validation": 240}
"""Real seconds that a stack of any size has, because this computer may be busy."""
SECONDS_A_DEVICE: Final = 5
"""For each HCA or GPU that is measured, because each figure of it takes processes of this computer. 128 HCAs and as
many GPUs took 165 s on two cores that had other work (2026-11-26); that busier ones take up to four times as long is
assumed."""


def limits_of(config: Mapping[str, Any], *, sizes: Mapping[str, MachineSize], speed: float) -> dict[str, int]:
    """The limit of each wait by the setting whose `timeoutSeconds` it is. A measurement lasts no longer than in
    reality, however much it is.

    config: the stack file's. sizes: those that are known, by name. speed: simulated seconds in a real one.
    """
    measured = min(SECONDS_A_DEVICE * devices(config, sizes), SIMULATED_SECONDS["validation"])
    least = {**LEAST_SECONDS, "validation": max(LEAST_SECONDS["validation"], measured)}
    return {setting: max(round(seconds / speed), least[setting]) for setting, seconds in SIMULATED_SECONDS.items()}


def devices(config: Mapping[str, Any], sizes: Mapping[str, MachineSize]) -> int:
    """The number of HCAs of all pools' machines, or of GPUs if a machine has more. An entry that is not a pool counts
    as none: the program refuses it.
    """
    pools = opened(config.get(f"{NAMESPACE}:pools"))
    return sum(_devices_of(opened(pool), sizes) for pool in (pools if isinstance(pools, list) else ()))


def _devices_of(pool: Any, sizes: Mapping[str, MachineSize]) -> int:
    size, count = (pool.get("vmSize"), pool.get("count")) if isinstance(pool, Mapping) else (None, None)
    if not isinstance(size, str) or size not in sizes or type(count) is not int:
        return 0
    machine = sizes[size]
    return max(0, count) * max(machine.infiniband.hca_count, machine.accelerator.count if machine.accelerator else 0)
