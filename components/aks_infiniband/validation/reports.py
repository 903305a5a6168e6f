"""What a validation leaves behind, for readers outside of the pods: the report's form, how it is shown and compared."""
# ruff: noqa: PLC0414  these names are handed on

from aks_infiniband.validation.payload.await_nodes import Promise as Promise
from aks_infiniband.validation.payload.await_nodes import lacks as lacks
from aks_infiniband.validation.payload.checks import Check as Check
from aks_infiniband.validation.payload.checks import Threshold as Threshold
from aks_infiniband.validation.payload.checks import severity as severity
from aks_infiniband.validation.payload.rendering import as_text as as_text
from aks_infiniband.validation.payload.rendering import measured_text as measured_text
from aks_infiniband.validation.payload.rendering import passed as passed
from aks_infiniband.validation.payload.rendering import shown_bytes as shown_bytes
from aks_infiniband.validation.payload.rendering import table as table
from aks_infiniband.validation.payload.report import ACCEPTED_KEY as ACCEPTED_KEY
from aks_infiniband.validation.payload.report import SCHEMA_VERSION as SCHEMA_VERSION
from aks_infiniband.validation.payload.report import Accepted as Accepted
from aks_infiniband.validation.payload.report import Report as Report
from aks_infiniband.validation.payload.report import accepted_of as accepted_of
from aks_infiniband.validation.payload.report import evidence_of as evidence_of
from aks_infiniband.validation.payload.report import headline as headline
from aks_infiniband.validation.payload.report import message_of as message_of
from aks_infiniband.validation.payload.report import report_in as report_in
from aks_infiniband.validation.payload.report import worst_values as worst_values
