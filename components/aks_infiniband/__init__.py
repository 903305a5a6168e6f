"""RDMA-ready AKS clusters as Pulumi components.

The public names stand in `__init__.pyi`. A name is loaded when it is first used: a program that needs only the
catalogue does not pay for Pulumi's packages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
