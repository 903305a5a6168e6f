"""Read-only look at a cluster, or at Azure's answer, when a wait fails: who is to blame, why, and what to do next.

Nothing here changes a cluster. An explanation that only one room has, such as a validation's report, comes from that
room.
"""

from aks_infiniband.diagnosis.azure import azure_operation
from aks_infiniband.diagnosis.error_hook import Waiting, job_results, on_error
from aks_infiniband.diagnosis.view import WaitingFor

__all__ = ["Waiting", "WaitingFor", "azure_operation", "job_results", "on_error"]
