"""A small virtual machine in which real RDMA tools run: no hardware, no rights, no KVM.

Its HCAs are Soft-RoCE devices (rdma_rxe) of a real kernel, its pods are network namespaces. Its content comes from
Debian's packages, pinned in packages.txt.
"""

from typing import Final

TOOLS_VARIABLE: Final = "REHEARSAL_TOOLS"
"""Says to the simulated machines which tools their pods have."""
REAL: Final = "real"
