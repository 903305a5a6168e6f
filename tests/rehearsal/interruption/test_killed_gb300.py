"""NVIDIA's DRA driver and its ComputeDomains: an engine is killed three times while they are made (kills.py)."""

from typing import Final

import pytest

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "gb300"
KILLED_AT: Final = (
    "Release::rdma-dra-driver",
    "DaemonSetPatch::rdma-dra-driver",
    "ComputeDomain::rdma-workload",
)


class TestKilled(KilledWhileItComesUp):
    """The stack `gb300`."""
