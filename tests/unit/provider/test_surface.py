"""Other languages can express all that Python can: components, and arguments except for those that the page names."""

from dataclasses import fields

from pulumi.provider.experimental.util import camel_case

from tests.unit.library.public import COMPONENTS as LIBRARY
from tests.unit.library.public import named
from tests.unit.provider.parity import ARGUMENTS_FOR_PYTHON, FOR_PYTHON, MADE_OF_INPUTS, TWICE
from tests.unit.provider.provider_process import resources


def test_every_component_of_the_library_is_served_but_for_those_that_the_page_names() -> None:
    assert resources().keys() == set(LIBRARY) - FOR_PYTHON


def test_every_argument_of_a_component_is_an_input() -> None:
    for component in TWICE:
        wanted = {camel_case(each.name) for each in fields(named(f"{component}Args"))}
        missing = wanted - resources()[component]["inputProperties"].keys()
        assert missing == ARGUMENTS_FOR_PYTHON.get(component, set()) | MADE_OF_INPUTS.get(component, set())
