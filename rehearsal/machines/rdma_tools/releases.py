"""The differences between releases of perftest, as far as they are recorded (tests/field_recordings/tools.yaml)."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Final

    from rehearsal.machines.rdma_tools.machine import Machine


class Release:
    """The differences between releases of perftest."""

    def __init__(self, version: str, *, says_no_peak: bool, connecting: str) -> None:
        self.version, self.says_no_peak, self.connecting = version, says_no_peak, connecting


_OLD_CONNECTING: "Final" = "Unable to open file descriptor for socket connection Unable to init the socket connection"
RELEASES: "Final" = {
    "4.5": Release("6.06", says_no_peak=False, connecting=_OLD_CONNECTING),
    "25.01": Release(
        "6.24",
        says_no_peak=True,
        connecting=_OLD_CONNECTING.replace(" Unable to init", "\n Unable to init"),
    ),
}
"""By the name that a distribution gives them: Debian 12 has 4.5+0.17, Debian 13 has 25.01.0+0.80."""


def release_of(machine: "Machine | None") -> Release:
    """The one that a machine's containers have: Debian 12's, or what the fault `perftest` says."""
    chosen = machine and machine.fault("perftest")
    return RELEASES[chosen["release"] if chosen else "4.5"]
