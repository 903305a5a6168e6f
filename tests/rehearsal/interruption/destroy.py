"""`python -m tests.rehearsal.interruption.destroy PROJECT STACK`: destroys a rehearsed stack, keeps its data centre."""

import sys
from pathlib import Path

from rehearsal.cli import RUNS
from rehearsal.control_plane import RunFolder, the_only_command
from rehearsal.session import Rehearsal
from tests.rehearsal.engine_runs import run

if __name__ == "__main__":
    project, stack = Path(sys.argv[1]), sys.argv[2]
    rehearsal = Rehearsal(project=project, stack=stack, run=RunFolder.at(project / RUNS / stack), speed=600)
    with the_only_command(rehearsal.run), rehearsal.data_centre(keep=True):
        engine = rehearsal.engine()
        rehearsal.recover(engine)
        outcome = run(engine, "destroy")
    print(outcome.said)
    sys.exit(not outcome.succeeded)
