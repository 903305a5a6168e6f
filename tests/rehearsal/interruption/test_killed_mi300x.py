"""AMD's operator, cert-manager and a DeviceConfig: an engine is killed three times while they are made (kills.py)."""

from typing import Final

import pytest

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "mi300x"
KILLED_AT: Final = (
    "DeploymentAtSubscriptionScope::",
    "Release::rdma-amd-gpu-operator",
    "DeviceConfig::rdma-device-config",
)


class TestKilled(KilledWhileItComesUp):
    """The stack `mi300x`."""
