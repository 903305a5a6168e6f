"""NVIDIA's DRA driver and its ComputeDomains: an engine is killed five times while they are made (kills.py)."""

from typing import Final

import pytest

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "gb300"
KILLED_AT: Final = (
    "ManagedCluster::rdma",
    "Release::rdma-dra-driver",
    "DaemonSetPatch::rdma-dra-driver",
    "ComputeDomain::rdma-workload",
    "v1:Job::",
)


class TestKilled(KilledWhileItComesUp):
    """The stack `gb300`."""
