"""Claims, and dranet with the policies that hold it: an engine is killed three times while they are made (kills.py)."""

from typing import Final

import pytest

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "dra"
KILLED_AT: Final = (
    "AgentPool::rdma-ndh100",
    "DaemonSet::rdma-dranet",
    "ResourceClaimTemplate::rdma-workload",
)


class TestKilled(KilledWhileItComesUp):
    """The stack `dra`."""
