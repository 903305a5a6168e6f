"""What a validation leaves behind, for readers outside of the pods: the report's form, and how it is shown."""

from aks_infiniband.validation.payload.checks import Check, Threshold, severity
from aks_infiniband.validation.payload.rendering import as_text, measured_text, passed, shown_bytes, table
from aks_infiniband.validation.payload.report import SCHEMA_VERSION, headline, message_of, report_in

__all__ = [
    "SCHEMA_VERSION",
    "Check",
    "Threshold",
    "as_text",
    "headline",
    "measured_text",
    "message_of",
    "passed",
    "report_in",
    "severity",
    "shown_bytes",
    "table",
]
