"""The figures behind a decision, each with its source: those of the table in the library, and further ones."""

from dataclasses import dataclass
from typing import Final

from aks_infiniband.facts.baselines import FIGURES, Baseline
from aks_infiniband.facts.baselines.choice import baselines_of
from aks_infiniband.facts.catalog.machine import MachineSize


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One sentence that says why, and the source of its figures. The source is None if it follows from the answers."""

    text: str
    source: str | None = None


ETHERNET: Final = Reason(
    text="training over plain Ethernet ran 26 to 57 times slower: FSDP of three models on 2 to 8 ND H100 v5",
    source="J. Zhang, InfiniBand vs Ethernet for Multi-Node LLM Fine-Tuning (read 2026-11-22; an earlier version of "
    "the page saw little difference for the smallest model)",
)
SPLIT_INFERENCE: Final = Reason(
    text="inference split into prefill and decode on different machines is the exception: the first token took about "
    "98 s over TCP, and 0.2 to 0.5 s over RDMA",
    source="NVIDIA Dynamo, RDMA / InfiniBand on AKS (read 2026-11-22)",
)
MODES: Final = "Azure/aks-rdma-infiniband 700dabb (2026-07-16)"
"""The AKS InfiniBand guide: which mode is for whom."""


def ports(size: MachineSize) -> Reason:
    """The ports of a machine of a size."""
    has, gpus = size.infiniband, size.accelerator
    carries = f"{gpus.count} × {gpus.model}, " if gpus else ""
    text = (
        f"{size.name} has {carries}{has.hca_count} × {has.generation} InfiniBand of {has.rate_gbps} Gb/s: "
        f"{has.hca_count * has.rate_gbps / 8:g} GB/s between machines"
        + (f"; Azure retires it on {size.retires}: choose a newer one for what lasts longer" if size.retires else "")
    )
    return Reason(text=text, source="components/aks_infiniband/facts/catalog")


def rdma(size: MachineSize) -> list[Reason]:
    """The RDMA figures of a size."""
    reasons = [_said(size, "rdma-write-bandwidth", "one adapter writes into another machine's memory with")]
    if size.accelerator is not None:
        reasons.append(_said(size, "all-reduce", "an all-reduce has a bus bandwidth of"))
    return [reason for reason in reasons if reason is not None]


def ipoib(size: MachineSize) -> list[Reason]:
    """The figures of a TCP connection over InfiniBand, and on the pods' network."""
    reasons = [
        _said(size, "ipoib-throughput", "one TCP connection over InfiniBand carries"),
        _said(size, "pod-network-throughput", "the same on the pods' ordinary network carries"),
        _said(size, "ipoib-latency", "a round trip over InfiniBand takes"),
        _said(size, "pod-network-latency", "the same on the pods' ordinary network takes"),
    ]
    return [reason for reason in reasons if reason is not None]


def _said(size: MachineSize, figure: str, words: str) -> Reason | None:
    row = next((row for row in baselines_of(size) if row.figure == figure), None)
    if row is None:
        return None
    value = _value(row)
    if value is None:
        return None
    on = "" if not row.tuning or row.vm_sizes else f" ({row.tuning.partition(';')[0]})"
    text = f"{words} {value}{on}"
    return Reason(text=text, source=f"{row.basis}: {row.source}")


def _value(row: Baseline) -> str | None:
    """The expected value; if none was published, the limits of the validation, and None if there are none."""
    figure = FIGURES[row.figure]
    unit = figure.unit + (f" between {row.nodes} machines" if row.nodes else "")
    if row.expected is not None:
        return f"{row.expected:g} {unit}"
    kind, beyond = ("at least", "below") if figure.better == "higher" else ("at most", "above")
    if row.fail is None:
        return None if row.warn is None else f"{kind} {row.warn:g} {unit}"
    warns = "" if row.warn is None else f", and the validation warns {beyond} {row.warn:g}"
    return f"{kind} {row.fail:g} {unit}{warns}"
