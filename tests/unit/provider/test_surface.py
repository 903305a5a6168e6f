"""What other languages can say is what Python can say: components, arguments, parts of arguments, and defaults."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pytest
from aks_infiniband.provider.described import FIELDS_OF
from aks_infiniband.resources.registry import Registry
from pulumi.provider.experimental.util import camel_case
from pydantic_core import PydanticUndefined

from tests.unit.library.public import COMPONENTS as LIBRARY
from tests.unit.library.public import named
from tests.unit.provider.parity import ARGUMENTS_FOR_PYTHON, FOR_PYTHON, MADE_OF_INPUTS, TWICE
from tests.unit.provider.provider_process import resources, types

DESCRIBED = {"RegistryDescription": Registry}
"""Parts of arguments whose inputs are written by hand. Those of sections are made from them."""
NONE = (None, (), MISSING, PydanticUndefined)
"""Defaults that a text tells in its own words."""
OWN = {"ChartDescription"}
"""What is made by a function of the library, and is none of its classes."""


def arguments(kind: Any) -> dict[str, Any]:
    """By its name in other languages, the default of each argument, or of each key of a section."""
    if is_dataclass(kind):
        return {camel_case(each.name): each.default for each in fields(kind)}
    return {camel_case(name): about.default for name, about in kind.model_fields.items()}


def test_every_component_of_the_library_is_served_but_for_those_that_the_page_names() -> None:
    assert resources().keys() == set(LIBRARY) - FOR_PYTHON


@pytest.mark.parametrize("component", TWICE)
def test_every_argument_of_a_component_is_an_input(component: str) -> None:
    wanted = arguments(named(f"{component}Args")).keys()
    missing = wanted - resources()[component]["inputProperties"].keys()
    assert missing == ARGUMENTS_FOR_PYTHON.get(component, set()) | MADE_OF_INPUTS.get(component, set())


def test_every_part_of_an_argument_can_be_said() -> None:
    served = {
        name: set(about["properties"])
        for name, about in types().items()
        if "enum" not in about and name not in FIELDS_OF
    }
    ours = {name: set(arguments(kind)) for name, kind in DESCRIBED.items()}
    assert {name: keys for name, keys in served.items() if name not in OWN} == ours


def told() -> Iterator[tuple[str, Any, Any]]:
    """Of all properties whose text ends with a default: name, text, and the default in the library."""
    described: dict[str, tuple[Any, Mapping[str, Any]]] = {
        **{name: (kind, types()[name]["properties"]) for name, kind in DESCRIBED.items()},
        **{name: (named(f"{name}Args"), resources()[name]["inputProperties"]) for name in TWICE},
    }
    for name, (kind, properties) in described.items():
        defaults = arguments(kind)
        for key, about in properties.items():
            found = re.search(r"Default: ([^ ]+)\.$", about["description"])
            if found and defaults.get(key) not in NONE:
                yield f"{name}.{key}", found[1], defaults[key]


def test_a_default_that_is_told_is_the_librarys() -> None:
    wrong = {name: text for name, text, default in told() if text != in_words(default)}
    assert wrong == {}
    assert len(list(told())) > 20


def in_words(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(default)
    return f"{default:g}" if isinstance(default, int | float) else str(getattr(default, "name", default))
