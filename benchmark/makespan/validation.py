"""The duration of a pool's validation after its last driver is ready: by the sizes of its messages.

The number of nodes is in none of the measurements: every node is client and server at the same time. In large pools
each looks less often. A figure that was not measured is assumed, and says so.
"""

from dataclasses import dataclass
from typing import Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.payload.pod.member import STEP_SECONDS
from aks_infiniband.validation.payload.rdma.measuring import GROUPS
from aks_infiniband.validation.payload.rdma.tools import BANDWIDTH_BYTES, ITERATIONS, SIDE_BY_SIDE
from aks_infiniband.validation.payload.talk.waiting import pause_seconds

from benchmark.makespan.machines import seconds

VM_SIZES: Final = (
    "Standard_HB176rs_v4",
    "Standard_ND96asr_v4",
    "Standard_ND96isr_H100_v5",
    "Standard_ND128isr_GB300_v6",
)
_TOOL: Final = 0.5
"""One perftest or ping-pong apart from its messages: two programs start, register memory and connect. Assumed."""
LARGE: Final = 100
"""Machines of a large pool, for the table's last row; the others are of pools so small that all look at full pace."""
_LOOK: Final = 3.0
"""A pod looks at its node and at its tools' versions, if the image has all tools. Assumed."""
_UPDATE, _INSTALL = 4.0, 7.0
"""apt-get's lists, and one installation: what kernel headers took on an AKS node of size Standard_ND96asr_v4
(surajssd/doca-driver-build, logs, 2025-05-10). That the tools take as long, and that tdnf does, is assumed."""
_ALL_REDUCE: Final = 10.0
"""One run with the short sweep. Four H200 of one host took 7.5 to 7.9 s for one with more sizes
(benchmark/results/h200-x4.json); the rest is assumed, for more ranks."""
_GPUS: Final = 10.4
"""All GPUs of a machine under load, side by side: two H100 took 9.9 to 10.4 s (docs/measurements.md). That eight take
no longer is assumed."""
_LOOKED_AFTER: Final = 0.25
"""Share of the longest pause, after which a ready resource is seen. Assumed: rounds of latency end within half a
second.
"""
_SHARE: Final = 196.55 / 200
"""Share of a link's rate that one queue pair carries (Azure/aks-rdma-infiniband, tests/expected-output.md)."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Seconds of each part of one pool's validation."""

    waiting: float
    """From the last driver's being ready to the first step: until all is seen, for as long as it has to stay so."""
    steps: float
    """Until all pods have seen each step, and index 0 their results."""
    latency: float
    one_after_the_other: float
    """Time of bandwidth that way."""
    side_by_side: float
    alone: float
    """Additional time if every rail has too little together with the others."""
    all_reduce: float
    gpus: float
    """Time of those under load."""
    step: float
    """Time of one step more."""
    installing: float
    """Additional time with the default images: none has the tools, and CUDA's lacks Python."""

    def whole(self, *, contention: bool) -> float:
        """All of it, with all rails measured once more alone or none."""
        more = self.alone + self.step if contention else 0.0
        return self.waiting + self.steps + self.latency + self.side_by_side + self.all_reduce + self.gpus + more


def parts(size: MachineSize, nodes: int = 2) -> Parts:
    """The parts for a pool of machines of a size, with default settings and GPUs that the program drives if it has
    some.
    """
    hcas, waits = size.infiniband.hca_count, Waits()
    # Index 0 and the others each look: at first after an eighth of the longest pause, then after twice as long.
    step = 2 * _LOOKED_AFTER * min(pause_seconds(STEP_SECONDS[0], nodes), STEP_SECONDS[1])
    latency, bandwidth = (len(kinds) for kinds in GROUPS)
    rounds = (hcas * latency + bandwidth) + runs_of(size) + (1 if runs_of(size) else 0) + 1
    message = ITERATIONS * BANDWIDTH_BYTES * 8 / (size.infiniband.rate_gbps * 1e9 * _SHARE)
    one_rail = bandwidth * (_TOOL + message)
    timed = bandwidth * (_TOOL + int(SIDE_BY_SIDE[1]))
    runs = runs_of(size)
    return Parts(
        waiting=pause_seconds(waits.poll_seconds, nodes) + waits.stable_seconds + seconds("containerStart") + _LOOK,
        steps=rounds * step,
        step=step,
        latency=hcas * latency * _TOOL,
        one_after_the_other=hcas * one_rail,
        side_by_side=timed if hcas > 1 else one_rail,
        alone=hcas * one_rail if hcas > 1 else 0.0,
        all_reduce=runs * _ALL_REDUCE,
        gpus=_GPUS if runs else 0.0,
        installing=(_UPDATE + _INSTALL) * (2 if runs else 1),
    )


def runs_of(size: MachineSize) -> int:
    """The number of all-reduce measurements on machines of a size."""
    return 2 if size.accelerator and size.accelerator.vendor == "nvidia" else 0


def table() -> str:
    """A row for each of some sizes."""
    lines = [
        "| size | HCAs | waiting | steps | latency | bandwidth, one rail after the other | bandwidth, side by side | "
        "GPUs | all-reduce | whole, tools in the image | with the default image | with every rail alone, too |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, nodes in [*((name, 2) for name in VM_SIZES), ("Standard_ND96isr_H100_v5", LARGE)]:
        seconds, ports = parts(SIZES[name], nodes), SIZES[name].infiniband
        shown = (seconds.waiting, seconds.steps, seconds.latency, seconds.one_after_the_other, seconds.side_by_side)
        whole, alone = (seconds.whole(contention=contention) for contention in (False, seconds.alone > 0))
        ends = (whole, whole + seconds.installing, alone + seconds.installing)
        cells = [f"{value:.0f} s" for value in (*shown, seconds.gpus, seconds.all_reduce, *ends)]
        pool = f"{nodes} machines of {name}" if nodes == LARGE else name
        lines.append(f"| {pool} | {ports.hca_count} × {ports.rate_gbps:g} Gb/s | {' | '.join(cells)} |")
    return "\n".join(lines)
