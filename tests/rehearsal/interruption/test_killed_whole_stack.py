"""A stack with guard, light check and observability: an engine is killed four times while it is made (kills.py)."""

from pathlib import Path
from typing import Final

import pytest

from rehearsal.session import Rehearsal

from .kills import KilledWhileItComesUp

pytestmark = pytest.mark.long

STACK: Final = "existing"
SETTINGS: Final = {"lightCheck": {"schedule": "0 0 29 2 *"}, "observability": {"prometheus": "kube-prometheus"}}
KILLED_AT: Final = (
    "ValidatingAdmissionPolicyBinding::rdma-workload",
    "NicClusterPolicy::",
    "CronJob::",
    "v1:Job::",
)


class TestKilled(KilledWhileItComesUp):
    """The stack for a cluster that others made."""

    def test_its_monitors_are_there(self, rehearsal: Rehearsal) -> None:
        resources = rehearsal.engine().deployment()["resources"]
        kinds = {Path(urn.rsplit("::", 1)[0]).name for urn in (resource["urn"] for resource in resources)}
        assert any("PodMonitor" in kind or "ServiceMonitor" in kind for kind in kinds)
