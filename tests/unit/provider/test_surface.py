"""Other languages can express all that Python can: components, and arguments except for those that the page names."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from pulumi.provider.experimental.util import camel_case

from tests.unit.library.public import COMPONENTS as LIBRARY
from tests.unit.library.public import named
from tests.unit.provider.provider_process import resources

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


def test_every_component_of_the_library_is_served_but_for_those_that_the_page_names() -> None:
    assert resources().keys() == set(LIBRARY) - FOR_PYTHON


def test_every_argument_of_a_component_is_an_input() -> None:
    for component in resources().keys() - {"RdmaCluster"}:
        wanted = {camel_case(each.name) for each in fields(named(f"{component}Args"))}
        missing = wanted - resources()[component]["inputProperties"].keys()
        assert missing == ARGUMENTS_FOR_PYTHON.get(component, set()) | MADE_OF_INPUTS.get(component, set())
