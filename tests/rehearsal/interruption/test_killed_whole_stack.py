"""An engine that is killed again and again while a stack with guard, light check and observability comes up.

What it was making when it was killed is in the cluster and not in the state: the next `up` makes it once more, as
another field manager.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from rehearsal.control_plane import the_only_command
from rehearsal.session import Rehearsal
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import run
from tests.rehearsal.waiting import eventually

pytestmark = pytest.mark.long

STACK: Final = "existing"
SETTINGS: Final = {"lightCheck": {"schedule": "0 0 29 2 *"}, "observability": {"prometheus": "kube-prometheus"}}
KILLED_AT: Final = (
    "ValidatingAdmissionPolicy::rdma-workload",
    "ValidatingAdmissionPolicyBinding::rdma-workload",
    "NicClusterPolicy::",
    "PodMonitor::",
    "CronJob::",
    "v1:Job::",
)
"""What the engine begins to make when it is killed, each as a part of the resource's URN."""


@pytest.fixture(scope="module")
def rehearsal(rehearse_ours: RehearseOurs) -> Rehearsal:
    """The project's stack for a cluster that somebody else made."""
    stack = rehearse_ours(STACK)
    stack.settings(**SETTINGS)
    return stack.rehearsal


@pytest.mark.parametrize("what", KILLED_AT)
def test_an_engine_is_killed_while_it_makes_an_object(rehearsal: Rehearsal, what: str) -> None:
    engine, begun = rehearsal.engine(), re.compile(f'"resourcePreEvent".*{re.escape(what)}')
    with the_only_command(rehearsal.run):
        rehearsal.recover(engine)
        under_way = engine.run("up", "--yes", "--skip-preview")

        def is_under_way() -> bool:
            assert under_way.process.poll() is None, f"the update ended before it made {what}"
            log = under_way.event_log
            return log.exists() and begun.search(log.read_text()) is not None

        eventually(is_under_way, seconds=240)
        under_way.process.kill()
        under_way.process.wait()


def test_the_next_up_makes_all_of_it_and_the_one_after_it_changes_nothing(rehearsal: Rehearsal) -> None:
    engine = rehearsal.engine()
    with the_only_command(rehearsal.run):
        rehearsal.recover(engine)
        made = run(engine, "up")
        assert made.succeeded, made.said
        again = run(engine, "up")
    assert again.succeeded, again.said
    assert again.changed == {}
    kinds = {Path(urn.rsplit("::", 1)[0]).name for urn in (r["urn"] for r in engine.deployment()["resources"])}
    assert any("PodMonitor" in kind or "ServiceMonitor" in kind for kind in kinds)
