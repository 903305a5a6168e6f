"""Claims, and dranet with the policies that hold it: an engine is killed five times while they are made (kills.py)."""

from typing import Final

import pytest

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "dra"
KILLED_AT: Final = (
    "AgentPool::rdma-ndh100",
    "ValidatingAdmissionPolicy::rdma-dranet-policy-claims",
    "DaemonSet::rdma-dranet",
    "ResourceClaimTemplate::rdma-workload",
    "v1:Job::",
)


class TestKilled(KilledWhileItComesUp):
    """The stack `dra`."""
