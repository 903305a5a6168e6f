"""RDMA-ready AKS clusters as Pulumi components.

What is public stands in `__init__.pyi`. A name is loaded when it is first used: whoever wants the catalogue alone does
not pay for Pulumi's packages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
