"""`python -m rehearsal`, and the command `rehearsal`."""

import sys
import tempfile

# The SDK wants a folder for temporary files when it is imported, and /tmp may be full or read-only. A command takes its
# run folder.
tempfile.tempdir = "."

from rehearsal.cli.command import main  # noqa: E402

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
