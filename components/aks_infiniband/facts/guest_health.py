"""Azure's names for the faults of a machine for HPC, for its guest health reports.

Source: guest_health.yaml next to this module.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from aks_infiniband.facts.tables import table

_TABLE: Final[Any] = table(__package__, "guest_health.yaml")
API_VERSION: Final[str] = str(_TABLE["api_version"])
"""Version of the address at which Azure takes a report."""
PORT_DOWN: Final = "port-down"
"""The table's name for an adapter whose port is not Active on the machine."""
_XID: Final = re.compile(r"NVRM: Xid \([^)]*\): (\d+)")


def category_of(failed: Iterable[tuple[str, str]], kernel: Iterable[str], *, dcgm: bool = False) -> str:
    """The category of a machine.

    failed: checks of the validation that fail at it, each with what was measured; PORT_DOWN is one. kernel: lines
    of its log. dcgm: whether DCGM's diagnostics find a GPU bad. A GPU's error for which Azure has a category says
    most, then a check that fails, then DCGM, and then any other error of a GPU.
    """
    xids = [int(match[1]) for line in kernel if (match := _XID.search(line))]
    own = [_TABLE["xids"][xid] for xid in xids if xid in _TABLE["xids"]]
    there = list(failed)
    checks = [
        entry["category"]
        for entry in _TABLE["checks"]
        if any(name == entry["check"] and entry.get("says", "") in measured for name, measured in there)
    ]
    others = [*([_TABLE["dcgm"]] if dcgm else []), *([_TABLE["other_xid"]] if xids else [])]
    return str([*own, *checks, *others, _TABLE["other"]][0])
