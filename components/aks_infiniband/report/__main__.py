"""`python -m aks_infiniband.report`: the same as `aks-infiniband report`."""

import sys

from aks_infiniband.report.command import main

if __name__ == "__main__":
    sys.exit(main(["report", *sys.argv[1:]]))
