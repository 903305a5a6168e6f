"""Validation of a pool: a Job whose pods await all nodes and then look at one each, and a report."""

from aks_infiniband.validation.component import Validation, ValidationArgs

__all__ = ["Validation", "ValidationArgs"]
