"""Records again: `python -m tests.recordings` the programs' declarations, `... released` the promise of a release."""

import argparse

from declared.recording import text
from tests.recordings.identity import identities
from tests.recordings.programs import PROGRAMS, read


def main() -> None:
    """Write the files, and remove those of programs that are no longer there."""
    parser = argparse.ArgumentParser(prog="python -m tests.recordings", description=__doc__)
    parser.add_argument("what", choices=("declared", "released"), nargs="?", default="declared")
    what = parser.parse_args().what
    files = {getattr(program, what): program for program in PROGRAMS}
    for file, program in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text(program.record() if what == "declared" else identities(read(program.declared))))
    for file in {found for each in files for found in each.parent.glob("*.yaml")} - files.keys():
        file.unlink()


if __name__ == "__main__":
    main()
