"""Every component twice: the inputs of a program in another language, and the arguments of the same one in Python.

Inputs are as the engine hands them over, which makes every number a float. Each is given, and none is what it would be
by default.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.unit.provider.parity import azure, operators, workloads

TWICE: Final[Mapping[str, tuple[dict[str, Any], Callable[[], dict[str, Any]]]]] = {
    **azure.TWICE,
    **operators.TWICE,
    **workloads.TWICE,
}

FOR_PYTHON: Final = {"ValidationAccess"}
"""Components that other languages do not get; docs/languages.md says why."""
ARGUMENTS_FOR_PYTHON: Final[Mapping[str, set[str]]] = {
    "NicClusterPolicy": {"turns"},
    "NicNodePolicy": {"turns"},
    "GpuOperator": {"turns"},
    "Validation": {"turns", "access"},
    "DraDriver": {"machines"},
}
"""Arguments that they do not get; the page says why."""
MADE_OF_INPUTS: Final[Mapping[str, set[str]]] = {
    "ExistingNetworkOperator": {"policies"},
    "NicClusterPolicy": {"policies"},
    "NicNodePolicy": {"policies"},
    "DeviceConfig": {"options"},
    "Validation": {"options"},
}
"""Arguments whose parts are inputs of the component itself."""
