"""The form of a report, for readers that get one from outside: a file, a state, a cluster.

The parts that a reader looks at are held against it; all else in a report is free.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.validation.payload.report.document import Report

_Verdict = Literal["pass", "warn", "fail", "not measured", "not judged"]
_Figure = Annotated[float, Field(ge=-1e15, le=1e15)]
_Bytes = Annotated[int, Field(ge=1, le=1 << 60)]


class _Threshold(Form):
    unit: str | None = None
    better: Literal["higher", "lower"] | None = None
    expected: _Figure | None = None
    warn: _Figure | None = None
    fail: _Figure | None = None
    basis: str
    source: str


class _Try(Form):
    value: Any


class _Told(Form):
    check: str
    verdict: _Verdict
    node: str | None = None
    device: str | None = None
    cause: str | None = None


class _Check(_Told):
    node: str | None
    device: str | None
    expected: Any
    measured: Any
    unit: str | None
    threshold: _Threshold | None
    tries: list[_Try] | None
    cause: str | None


class _Row(Form):
    figure: str
    node: str
    device: str
    rail: str = ""
    value: _Figure | None


class _Measured(Form):
    figure: str
    value: _Figure | None


class _Size(Form):
    bytes: _Bytes
    seconds: _Figure
    algorithm_gb_per_s: _Figure
    bus_gb_per_s: _Figure


class _Run(Form):
    tuning: str
    transport: str
    sizes: list[_Size]
    ranks: int


class _Collective(Form):
    runs: list[_Run]
    line_gb_per_s: _Figure | None = None
    thresholds: dict[str, _Threshold | None] | None = None


class _Coverage(Form):
    summary: str


class _Values(Form):
    """The parts of every report, whole or as a summary in a stack's outputs."""

    pool: str
    finished: str
    values: dict[str, _Figure] = Field(default_factory=dict)


class _Judged(_Values):
    checks: list[_Check]
    thresholds: dict[str, _Threshold]


class _Figures(_Judged):
    """The parts with the worst values of each figure."""

    rdma: list[_Measured] = Field(default_factory=list)
    networks: list[_Measured] = Field(default_factory=list)


class _Report(_Judged):
    vm_size: str
    verdict: _Verdict
    coverage: _Coverage
    rdma: list[_Row] = Field(default_factory=list)
    networks: list[_Measured] = Field(default_factory=list)
    collective: _Collective | None = None


class _Verdicts(Form):
    """The parts of a report that say how the run went."""

    pool: str | None = None
    verdict: _Verdict
    checks: list[_Told] = Field(default_factory=list)


def whole_report(document: Any) -> Report:
    """A report. Raises HandwrittenError, which names the place that is wrong."""
    formed(_Report, document)
    return cast("Report", document)


def report_with_values(document: Any) -> Mapping[str, Any]:
    """A report, or its summary, which has the worst value of each figure. Raises HandwrittenError as above."""
    formed(_Values if isinstance(document, dict) and "values" in document else _Figures, document)
    return cast("Mapping[str, Any]", document)


def check_verdicts(document: Any) -> None:
    """Check the parts of a report that say how the run went. Raises HandwrittenError as above."""
    formed(_Verdicts, document)
