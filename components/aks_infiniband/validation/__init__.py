"""The measurement of a pool: a Job whose pods await all nodes and then look at one each, the expectations, and the
report.

The program inside the pods is `payload`, which imports nothing of the rest. Rendering a report as a page is not here.
"""

from aks_infiniband.validation.access import ValidationAccess, ValidationAccessArgs
from aks_infiniband.validation.component import Validation, ValidationArgs
from aks_infiniband.validation.options import ValidationOptions

__all__ = ["Validation", "ValidationAccess", "ValidationAccessArgs", "ValidationArgs", "ValidationOptions"]
