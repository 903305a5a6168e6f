"""How a pool is measured: a Job whose pods await all nodes and then look at one each, what is expected, and the report.

What runs inside the pods is `payload`, which imports nothing of the rest. How a report becomes a page is not here.
"""

from aks_infiniband.validation.access import ValidationAccess, ValidationAccessArgs
from aks_infiniband.validation.component import Validation, ValidationArgs
from aks_infiniband.validation.options import ValidationOptions

__all__ = ["Validation", "ValidationAccess", "ValidationAccessArgs", "ValidationArgs", "ValidationOptions"]
