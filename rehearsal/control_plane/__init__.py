"""The processes of a rehearsal: a real Kubernetes control plane, simulated nodes and the simulators around it.

Starting, watching and ending processes lives here; what the simulators do does not.
"""

from rehearsal.control_plane.client import (
    CONTROL_PLANE_ONLY,
    WITH_KWOK,
    ControlPlane,
    ControlPlaneError,
    down,
)
from rehearsal.control_plane.leftovers import BusyError, the_only_command
from rehearsal.control_plane.parts import ALL_PARTS, SIMULATORS, UnknownPartError
from rehearsal.run.folder import ENVIRONMENT_VARIABLE, RunFolder, RunFolderError

__all__ = [
    "ALL_PARTS",
    "CONTROL_PLANE_ONLY",
    "ENVIRONMENT_VARIABLE",
    "SIMULATORS",
    "WITH_KWOK",
    "BusyError",
    "ControlPlane",
    "ControlPlaneError",
    "RunFolder",
    "RunFolderError",
    "UnknownPartError",
    "down",
    "the_only_command",
]
