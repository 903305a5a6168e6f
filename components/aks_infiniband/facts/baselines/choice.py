"""The published figures, those that fit a machine size, and the limits of a figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from aks_infiniband.facts.baselines import FIGURES, Baseline, GivenThreshold
from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.facts.tables import table

_USUAL_SHARE: Final = 0.935
_USUAL_SHARE_OF: Final = {200: 0.925}
"""Share of the signalling rate, per HCA: 187.78 of 200 and 378.46 of 400 Gb/s with one queue pair were the least that
Azure accepted (Azure/AKS pull request 5975). Both lie below by more than healthy machines differ (benchmark/links.py).
"""
_LEAST_SHARE: Final = 0.9
"""Share of the signalling rate, per HCA: the floors of Azure's node health checks for A100 (180 of 200) and H200 (360
of 400; Azure/azurehpc-health-checks 0e0a1ac, conf/). For HC, HBv2, HBv3, HBv4, HX and MI300X those have 95, 190 and
390, in a loopback with two queue pairs: more than one queue pair between two healthy machines has reached.
"""
_HEALTHY_PORTS: Final = (
    "94 to 98 % of 200 and 95 % of 400 Gb/s on six machines (tests/field_recordings/measurements.yaml)"
)
_COLLECTIVE_SHARE: Final = 0.75
"""Share of all ports' signalling rate, for the bus bandwidth of all-reduce: Azure's limits for GB300 (150 of 200 GB/s)
have this share. The share was not measured on the sizes that it is computed for, so it only warns, and of two machines:
healthy H100 had 350 GB/s on 4, 275 on 16 and 229 on 48 (J. Zhang, NCCL AllReduce Scaling, 2026-03-03; one scale set,
not AKS).
"""


def _rows(published: dict[str, Any]) -> Iterator[Baseline]:
    for entry in published["entries"]:
        shared = {key: value for key, value in entry.items() if key not in ("figures", "elsewhere_warns")}
        shared["vm_sizes"] = tuple(published["sizes"][entry["vm_sizes"]]) if "vm_sizes" in entry else ()
        for key in ("source", "healthy"):
            if key in entry:
                shared[key] = entry[key].format_map(published["sources"])
        for figure, own in entry["figures"].items():
            row = Baseline(figure=figure, **{**shared, **own})
            yield certain(row)
            if entry.get("elsewhere_warns"):
                tuning = f"{row.tuning}; on another size it only warns"
                yield certain(replace(row, vm_sizes=(), tuning=tuning, healthy=None))


def certain(row: Baseline) -> Baseline:
    """A row that fails no healthy machine: without records of several healthy machines it only warns."""
    return row if row.healthy else replace(row, warn=row.warn or row.fail, fail=None)


BASELINES: Final = tuple(_rows(table(__package__, "published.yaml")))
"""Published figures (`published.yaml`), one row for each figure and circumstance."""


def computed_floors(size: MachineSize) -> list[Baseline]:
    """Floors computed from the machine's own ports: a result below them is less than the hardware can do.

    For AMD's machines none for all-reduce: the one run that was published, untuned, has a quarter of it
    (kubernetes-sigs/dranet f258477, examples/azure_aks_examples/mi300x/README.md).
    """
    rate, ports = size.infiniband.rate_gbps, size.infiniband.hca_count
    usual = _USUAL_SHARE_OF.get(rate, _USUAL_SHARE)
    floors = [
        Baseline(
            figure=figure,
            vm_sizes=(size.name,),
            healthy=_HEALTHY_PORTS,
            warn=rate * usual,
            fail=rate * _LEAST_SHARE,
            basis="computed",
            source=f"{usual:.1%} and {_LEAST_SHARE:.0%} of one port's {rate} Gb/s",
        )
        for figure in ("rdma-write-bandwidth", "rdma-read-bandwidth")
    ]
    if size.accelerator is None or size.accelerator.vendor == "amd":
        return floors
    collective = Baseline(
        figure="all-reduce",
        vm_sizes=(size.name,),
        nodes=2,
        warn=ports * rate / 8 * _COLLECTIVE_SHARE,
        basis="computed",
        source=f"{_COLLECTIVE_SHARE:.0%} of {ports} ports × {rate} Gb/s",
    )
    return [*floors, collective]


def baselines_of(size: MachineSize) -> list[Baseline]:
    """Every row for this size or for all sizes: published ones first, then computed ones."""
    published = [row for row in BASELINES if not row.vm_sizes or size.name in row.vm_sizes]
    return [*published, *computed_floors(size)]


def threshold(figure: str, row: Baseline | None, given: GivenThreshold | None = None) -> dict[str, Any] | None:
    """The limits of a figure, as JSON-able data: from the stack file, else from a row of the figure.

    None if there is neither: the figure is then measured but not judged.
    """
    if row is None and given is None:
        return None
    bound: dict[str, Any] = {"unit": FIGURES[figure].unit, "better": FIGURES[figure].better}
    if row is not None:
        bound |= {name: value for name, value in asdict(row).items() if name not in ("figure", "vm_sizes")}
        bound["vm_sizes"] = list(row.vm_sizes)
    if given is not None:
        bound |= {"warn": given.warn, "fail": given.fail, "basis": "given", "source": "the stack file"}
    return bound


def thresholds(
    size: MachineSize, figures: Sequence[str], given: Mapping[str, GivenThreshold] | None = None
) -> dict[str, dict[str, Any]]:
    """The thresholds of several figures, each by its first row; figures without a threshold are left out."""
    first = {row.figure: row for row in reversed(baselines_of(size))}
    by_figure = {figure: threshold(figure, first.get(figure), (given or {}).get(figure)) for figure in figures}
    return {figure: bounds for figure, bounds in by_figure.items() if bounds is not None}
