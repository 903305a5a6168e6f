"""What a validation leaves behind, for readers outside of the pods: the report's form, how it is shown and compared."""

from aks_infiniband.validation.payload.await_nodes import Promise, lacks
from aks_infiniband.validation.payload.checks import Check, as_text, measured_text, severity, shown_bytes
from aks_infiniband.validation.payload.expectations import Threshold
from aks_infiniband.validation.payload.light_check.state import CONDITION, EVENTS_OF_NODES
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
from aks_infiniband.validation.table import passed, table

__all__ = [
    "ACCEPTED_KEY", "CONDITION", "EVENTS_OF_NODES", "SCHEMA_VERSION", "Accepted", "Check", "Promise", "Report",
    "Threshold", "accepted_of", "as_text", "evidence_of", "headline", "lacks", "measured_text", "message_of", "passed",
    "report_in", "severity", "shown_bytes", "table", "worst_values",
]  # fmt: skip
