"""The measurement of a pool: a Job whose pods await all nodes and then look at one each, the expectations, and the
report.

The program inside the pods is `payload`, which imports nothing of the rest. Rendering a report as a page is not here.
The component's names are loaded when they are first used: commands read reports without Pulumi's packages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
