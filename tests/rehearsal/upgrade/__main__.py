"""`python -m tests.rehearsal.upgrade` brings the stack up from nothing and writes it down: see README.md."""

import sys
import tempfile
from pathlib import Path

from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal
from tests.rehearsal.engine_runs import run
from tests.rehearsal.stacks.conftest import copy_of_project
from tests.rehearsal.upgrade.deployment import SPEED, STACK, take
from tests.rehearsal.upgrade.etcd import Etcd


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        project = copy_of_project(folder / "project")
        rehearsal = Rehearsal(project=project, stack=STACK, run=RunFolder.at(folder / "run"), speed=SPEED)
        with rehearsal.data_centre():
            given = frozenset(entry.key for entry in Etcd(rehearsal.run).everything())
            engine = rehearsal.engine()
            outcome = run(engine, "up")
            if not outcome.succeeded:
                sys.exit(f"the stack did not come up:\n{outcome.said}")
            take(rehearsal.run, engine, given=given)


if __name__ == "__main__":
    main()
