"""`python -m tests.rehearsal.interruption.destroy PROJECT STACK`: destroys a rehearsed stack, keeps its data centre.

The program is a separate process, with a data centre that outlives it, because tests kill it.
"""

import sys
from pathlib import Path

from rehearsal.control_plane import RunFolder, the_only_command
from rehearsal.run.commands import RUNS
from rehearsal.session import Rehearsal, pulumi
from tests.rehearsal.engine_runs import Outcome

if __name__ == "__main__":
    project, stack = Path(sys.argv[1]), sys.argv[2]
    rehearsal = Rehearsal(project=project, stack=stack, run=RunFolder.at(project / RUNS / stack), speed=600)
    with the_only_command(rehearsal.run), rehearsal.data_centre(keep=True) as check:
        engine, outcome = rehearsal.engine(), Outcome()
        rehearsal.recover(engine)

        def show(event: object) -> None:
            # Without an API server the engine would wait for minutes for what is deleted there.
            check()
            outcome.show(event)

        succeeded = pulumi(engine, show, "destroy", "--yes", "--skip-preview")
    print(outcome.said)
    sys.exit(not succeeded)
