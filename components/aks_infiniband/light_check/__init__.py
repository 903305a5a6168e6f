"""The scheduled check of idle nodes: CronJobs, the account that they use and what holds it to that use, and metrics.

The program in its pods belongs to the validation's payload, which has the measurements and their judge.
The component is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
