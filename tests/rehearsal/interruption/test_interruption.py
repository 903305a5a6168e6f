"""A command that is interrupted, anywhere and by whatever: the next one makes everything right, by itself."""

import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final, get_args

import pytest

from .checkout import Checkout, Command, Kill, Victim

pytestmark = pytest.mark.long
SEED: Final = 20261122
TRIES: Final = 3


def kills() -> list[Kill]:
    """The kills: the same in every run, each victim in each command."""
    chance = random.Random(SEED)
    signs = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
    found = [
        Kill(
            command=command,
            fresh=chance.random() < 0.25,
            victim=victim,
            sign=chance.choice(signs),
            after=chance.randrange(5, 100),
        )
        for victim, command in product(get_args(Victim), get_args(Command))
    ]
    # A destroy runs no program.
    return [replace(kill, victim="engine") if _has_no_victim(kill) else kill for kill in found]


def _has_no_victim(kill: Kill) -> bool:
    return kill.command == "destroy" and kill.victim == "language host"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    folder = tmp_path_factory.mktemp("interruption") / "checkout"
    shutil.copytree(Path(__file__).with_name("cluster_program"), folder)
    made = Checkout(folder)
    made.set_team("a")
    yield made
    made.down()


@pytest.mark.parametrize("kill", kills(), ids=str)
def test_after_an_interruption_the_next_command_makes_everything_right(checkout: Checkout, kill: Kill) -> None:
    for attempt in range(TRIES):  # on a busy machine a command may be done before it is killed: then earlier
        checkout.prepare(kill)
        if checkout.interrupt(replace(kill, after=kill.after >> attempt)):
            break
    else:
        pytest.fail(f"the command was done {TRIES} times before a process was killed")
    checkout.do(kill.command)
    if kill.command == "destroy":
        checkout.check_nothing_is_there()
    else:
        checkout.check_all_is_there_once()
    checkout.check_nothing_is_left_running()
