"""`python -m rehearsal.azure --run DIR --speed F`: the simulated subscription of one rehearsal, until it is stopped."""

import gc
import sys

gc.disable()  # the SDK's classes are loaded a fifth sooner: none of them is garbage

from rehearsal.azure.server import main  # noqa: E402

gc.freeze()
gc.enable()

if __name__ == "__main__":
    sys.exit(main())
