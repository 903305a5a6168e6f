"""Read-only look at a cluster, or at Azure's answer, when a wait fails: who is to blame, why, and what to do next.

Nothing here changes a cluster. An explanation that only one room has, such as a validation's report, comes from that
room. The engine's hooks are loaded when they are first used: the doctor needs no engine.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
