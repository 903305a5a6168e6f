"""The figures that measurements are compared with: published and measured ones with their source, and computed floors.

Published numbers disagree (H100 v5: about 450 GB/s tuned in one source, 157 untuned in another), so each row says on
which machines and with which tool it was measured. If nothing is published, a row is computed from the machine's ports,
and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from aks_infiniband.facts.bounds import Limit
from aks_infiniband.facts.tables import table
from aks_infiniband.handwritten.section import Section

Better = Literal["higher", "lower"]
Basis = Literal["measured", "quoted", "computed", "given"]
"""measured: the measurement was published; quoted: the limit was published; computed: from ports and line rate; given:
by the stack file.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One kind of figure."""

    unit: str
    better: Better


FIGURES: Final[Mapping[str, Figure]] = {
    name: Figure(**figure) for name, figure in table(__package__, "figures.yaml").items()
}
"""Every figure that a validation measures; all-reduce is its bus bandwidth."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """One row: the value to expect, and the limits beyond which a value is a warning or a failure."""

    figure: str
    basis: Basis
    source: str
    vm_sizes: tuple[str, ...] = ()
    """The sizes that it is for; empty for all."""
    nodes: int | None = None
    """Number of machines on which it was measured; None for any number from two on."""
    message_bytes: int | None = None
    transport: str = "infiniband"
    """infiniband, ipoib, tcp, or nvlink for machines of one NVLink domain."""
    tuning: str | None = None
    tool: str | None = None
    expected: float | None = None
    warn: float | None = None
    """Worse than this is a warning."""
    fail: float | None = None
    """A worse figure than this is a failure; None if falling short fails nothing."""
    healthy: str | None = None
    """The figures of several healthy machines, and the person or program that recorded them. Without it the spread of
    healthy machines is unknown, so falling short warns at most (`certain`).
    """


class GivenThreshold(Section):
    """Bounds of one measured figure, in its unit."""

    warn: Limit | None = Field(default=None, strict=True)
    """A result worse than this is warned of."""
    fail: Limit | None = Field(default=None, strict=True)
    """A result worse than this fails."""
