"""An engine that is killed again and again while a stack comes up.

The resource that it was making when it was killed is in the cluster and not in the state: the next `up` makes it once
more, as another field manager. A module names its stack as STACK, its settings as SETTINGS if it has any, and as
KILLED_AT the resources that the engine begins to make when it is killed, each as a part of the resource's URN.
"""

import re

import pytest

from rehearsal.control_plane import the_only_command
from rehearsal.session import Rehearsal
from tests.rehearsal.engine_runs import run
from tests.rehearsal.waiting import eventually


class KilledWhileItComesUp:
    """The tests of such a module: they follow one another."""

    def test_an_engine_is_killed_while_it_makes_an_object(self, rehearsal: Rehearsal, what: str) -> None:
        """One after the other, by KILLED_AT."""
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

    def test_the_next_up_makes_all_of_it_and_the_one_after_it_changes_nothing(self, rehearsal: Rehearsal) -> None:
        """Nothing is made twice, nothing is left over, and nothing differs."""
        engine = rehearsal.engine()
        with the_only_command(rehearsal.run):
            rehearsal.recover(engine)
            made = run(engine, "up")
            assert made.succeeded, made.said
            again = run(engine, "up")
        assert again.succeeded, again.said
        assert again.changed == {}


def of_the_module(metafunc: pytest.Metafunc) -> None:
    """Give the tests of a module what the engine is killed at."""
    if "what" in metafunc.fixturenames and hasattr(metafunc.module, "KILLED_AT"):
        metafunc.parametrize("what", metafunc.module.KILLED_AT)
