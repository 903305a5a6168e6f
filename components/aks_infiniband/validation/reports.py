"""What a validation leaves behind, for readers outside of the pods: the report's form, how it is shown and compared."""

from aks_infiniband.validation.payload.await_nodes import Promise, lacks
from aks_infiniband.validation.payload.checks import Check, Threshold, severity
from aks_infiniband.validation.payload.rendering import as_text, measured_text, passed, shown_bytes, table
from aks_infiniband.validation.payload.report import (
    ACCEPTED_KEY,
    SCHEMA_VERSION,
    Accepted,
    Report,
    accepted_of,
    evidence_of,
    headline,
    message_of,
    report_in,
    worst_values,
)

__all__ = [
    "ACCEPTED_KEY",
    "SCHEMA_VERSION",
    "Accepted",
    "Check",
    "Promise",
    "Report",
    "Threshold",
    "accepted_of",
    "as_text",
    "evidence_of",
    "headline",
    "lacks",
    "measured_text",
    "message_of",
    "passed",
    "report_in",
    "severity",
    "shown_bytes",
    "table",
    "worst_values",
]
