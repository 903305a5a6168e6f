"""Rules of the simulated machines: `python -m tests.simulator.unit.machines.cases` writes their outcomes again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.simulator.unit.machines.cases import hardware, kubelet, pods

CASES: Final = Cases(folder=Path(__file__).parent, families={**hardware.FAMILIES, **kubelet.FAMILIES, **pods.FAMILIES})
