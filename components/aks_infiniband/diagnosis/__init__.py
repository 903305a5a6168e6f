"""Read-only look at a cluster when a wait fails: who is to blame, why, and what to do next."""

from aks_infiniband.diagnosis.error_hook import on_error

__all__ = ["on_error"]
