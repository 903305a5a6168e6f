"""The release of an operator, by its own image, and the releases in which its behaviour changed."""

import re
from typing import Final

from rehearsal.operators.plan import Document

Release = tuple[int, int]
JULY_2026: Final[Release] = (26, 7)
"""Network Operator 26.7 and GPU Operator 26.7. Differences from 26.4 and 26.3, here: conditions of NIC policies
(network-operator v26.7.0-rc.2, controllers/conditions.go); of the GPU Operator (v26.7.0) the definition GPUCluster,
without which it does not start, one more node label, another path of the driver, and a look at an upgrade as soon as a
node is held back or let go (controllers/upgrade_controller.go). Its ServiceMonitor lacks a stand-in.
"""


def version_of(operator: Document) -> str:
    """Tag of the image of the operator."""
    reference: str = operator["spec"]["template"]["spec"]["containers"][0]["image"]
    return reference.rpartition(":")[2]


def release_of(operator: Document) -> Release:
    """Year and month; (0, 0) for a tag that says none. operator: its Deployment."""
    match = re.match(r"v?(\d+)\.(\d+)", version_of(operator))
    return (int(match[1]), int(match[2])) if match else (0, 0)
