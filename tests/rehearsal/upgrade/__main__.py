"""`python -m tests.rehearsal.upgrade` brings the stack up from nothing and writes it down: see README.md."""

import sys
import tempfile
from pathlib import Path

from rehearsal.testing.stack import rehearsing
from tests.rehearsal.stacks.conftest import copy_of_project
from tests.rehearsal.upgrade.deployment import SPEED, STACK, take
from tests.rehearsal.upgrade.etcd import Etcd


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory() as temporary:
        project = copy_of_project(Path(temporary) / "ours")
        with rehearsing(project, STACK, folder=Path(temporary), speed=SPEED) as stack:
            given = frozenset(entry.key for entry in Etcd(stack.rehearsal.run).everything())
            outcome = stack.up()
            if not outcome.succeeded:
                sys.exit(f"the stack did not come up:\n{outcome.said}")
            take(stack.rehearsal.run, stack.rehearsal.engine_as_it_is(), given=given)


if __name__ == "__main__":
    main()
