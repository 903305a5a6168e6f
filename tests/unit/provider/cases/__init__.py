"""Inputs of components as the engine hands them over: `python -m tests.unit.provider.cases` writes the outcomes again.

Numbers are written as people write them; the engine makes a float of each.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.handwritten.section import Section
from pulumi.errors import InputPropertiesError
from pulumi.provider.server import ComponentInitError

from declared.program import requests_of
from tests.cases import Case, Cases
from tests.unit.library.public import named
from tests.unit.provider.provider_process import construct


class _TakenError(Exception):
    """Carries the arguments."""


def arguments_of(case: Case) -> Any:
    """The arguments that the library's component gets of a case's inputs. Nothing is made."""
    component = case["component"]

    def take(self: object, name: str, *, args: Any, opts: object = None) -> None:
        raise _TakenError(args)

    with patch.object(named(component), "__init__", take):
        try:
            construct(component, as_the_engine(case["inputs"]))
        except ComponentInitError as error:
            if isinstance(error.inner, _TakenError):
                return error.inner.args[0]
            raise
    raise AssertionError(f"{component} is not the library's")


def outcome_of_arguments(case: Case) -> Any:
    """The arguments as data, without those that are what they are by default."""
    return _as_data(arguments_of(case))


def _as_data(value: Any) -> Any:
    if isinstance(value, MachineSize):
        return value.name
    if isinstance(value, Section):
        return {name: _as_data(getattr(value, name)) for name in sorted(value.model_fields_set)}
    if is_dataclass(value):
        return {
            each.name: _as_data(getattr(value, each.name))
            for each in fields(value)
            if getattr(value, each.name) != (each.default if each.default is not MISSING else _made(each))
        }
    if isinstance(value, dict):
        return {key: _as_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_data(item) for item in value]
    return str(value) if isinstance(value, str | IPv4Address | IPv4Network) else value


def _made(field: Any) -> Any:
    return MISSING if field.default_factory is MISSING else field.default_factory()


def outcome_of_refused(case: Case) -> list[str]:
    """The errors of the provider, each with its place. Nothing is made."""
    errors: list[str] = []

    def program() -> None:
        with _refusals(errors):
            construct(case["component"], as_the_engine(case["inputs"]))

    made = requests_of(program).resources.values()
    assert not [each for each in made if each.get("custom")]
    return errors


@contextmanager
def _refusals(errors: list[str]) -> Iterator[None]:
    try:
        yield
    except InputPropertiesError as error:
        places = [f"{each['property_path']}: {each['reason']}" for each in error.errors or []]
        errors += places or [str(error)]


def as_the_engine(value: Any) -> Any:
    """A value as the engine hands it over."""
    if isinstance(value, dict):
        return {key: as_the_engine(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_the_engine(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


CASES: Final = Cases(
    folder=Path(__file__).parent, families={"arguments": outcome_of_arguments, "refused": outcome_of_refused}
)
