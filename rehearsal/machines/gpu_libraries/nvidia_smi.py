"""Simulated nvidia-smi, which the container toolkit puts into containers with GPUs: `-q`, as far as it reports NVLink.

The form is that of driver 580 (tests/field_recordings/mnnvl.yaml).
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Final

NVLINK: "Final" = "REHEARSAL_NVLINK"
"""The variable that says how the GPUs stand in the NVLink fabric: state, cluster UUID and clique ID, if any."""
GPUS: "Final" = "REHEARSAL_GPU_ADDRESSES"
"""The variable with the PCI addresses of the container's GPUs."""
_NONE: "Final" = "00000000-0000-0000-0000-000000000000"


def fabric() -> "tuple[str, str, int] | None":
    """State, cluster UUID and clique ID; None if NVLink ends at the machine."""
    words = os.environ.get(NVLINK, "").split("/")
    return (words[0], words[1], int(words[2])) if len(words) == 3 else None


def main(arguments: list[str]) -> int:
    """Print the requested part; returns the exit status."""
    if arguments != ["-q"]:
        print(f"Invalid combination of input arguments: {' '.join(arguments)} is not simulated", file=sys.stderr)
        return 1
    addresses = os.environ.get(GPUS, "").split()
    lines = ["", "==============NVSMI LOG==============", "", _row("Attached GPUs", str(len(addresses)), 0)]
    for address in addresses:
        lines += [f"GPU 0000{address.upper()}", *_fabric()]
    print("\n".join(lines))
    return 0


def _fabric() -> "list[str]":
    known = fabric()
    if known is None:
        return ["    Fabric", *(_row(key, "N/A", 8) for key in ("State", "Status", "CliqueId", "ClusterUUID"))]
    state, cluster, clique = known
    done = state == "Completed"
    rows = {
        "State": state,
        "Status": "Success" if done else "N/A",
        "CliqueId": str(clique) if done else "0",
        "ClusterUUID": cluster if done else _NONE,
    }
    return ["    Fabric", *(_row(key, value, 8) for key, value in rows.items())]


def _row(key: str, value: str, indent: int) -> str:
    return f"{' ' * indent}{key:<{42 - indent}}: {value}"
