"""The scheduled check of idle nodes: CronJobs, the account that they use and what holds it to that use, and metrics.

The program in its pods belongs to the validation's payload, which has the measurements and their judge.
"""

from aks_infiniband.light_check.component import LightCheck, LightCheckArgs

__all__ = ["LightCheck", "LightCheckArgs"]
