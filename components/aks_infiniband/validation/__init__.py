"""Validation of a pool: a Job whose pods await all nodes and then look at one each, and a report."""

from aks_infiniband.validation.component import Validation, ValidationArgs
from aks_infiniband.validation.options import ValidationOptions, Waits

__all__ = ["Validation", "ValidationArgs", "ValidationOptions", "Waits"]
