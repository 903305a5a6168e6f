"""What a validation leaves behind, for readers outside of the pods: the report's form, and how it is shown."""

from aks_infiniband.validation.payload.checks import Check, Threshold, severity
from aks_infiniband.validation.payload.rendering import as_text, measured_text, passed, shown_bytes, table
from aks_infiniband.validation.payload.report import REPORT_KEY, SCHEMA_VERSION, headline, message_of

__all__ = [
    "REPORT_KEY",
    "SCHEMA_VERSION",
    "Check",
    "Threshold",
    "as_text",
    "headline",
    "measured_text",
    "message_of",
    "passed",
    "severity",
    "shown_bytes",
    "table",
]
