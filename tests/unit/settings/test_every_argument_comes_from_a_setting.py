"""Every argument that a stack gives to a component is other than its default in some stack.

A setting may reach several components, and the requests to the engine change if it reaches one of them. So here each
argument is looked at by itself: one that a stack does not hand on has its default whatever a stack file says.
"""

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Final

import pytest
from aks_infiniband import SettingsError, Stack, load

from tests.unit.settings.legal_values import legal_values
from tests.unit.settings.test_every_setting_reaches_the_engine import SETTINGS, STACKS, changed, places
from tests.unit.settings.test_every_setting_reaches_the_engine import stack as stack_file

WIRED: Final = {"turns", "access", "machines"}
"""Values that another component gives, once it is made."""
OF_OTHERS: Final = {
    "ValidationArgs.namespace": "that of what all validations share",
    "LightCheckArgs.namespace": "this program's own",
    "WorkloadGuardArgs.namespaces": "the namespace that the program makes",
    "WorkloadGuardArgs.name": "this program's own",
    "ValidationAccessArgs.namespace": "this program's own",
    "ValidationAccessArgs.name": "this program's own",
}
"""Values that no stack file decides."""


BASES: Final = {
    **STACKS,
    "operators that others keep": stack_file(
        "existing", networkOperator={"existing": True}, gpuOperator={"existing": True}
    ),
    "a scheduler that is told": stack_file("dev", schedulerTopology={"scheduler": "volcano"}),
    "another release": stack_file("dev", release="26.7"),
}
"""Arguments of one component come from several settings; each of these has one, and gets another."""


def made(stack: Stack) -> Iterator[Any]:
    """The arguments of every component that a stack has."""
    for name, method in inspect.getmembers(Stack, inspect.isfunction):
        parameters = [each for each in inspect.signature(method).parameters if each != "self"]
        if not name.startswith("_") and parameters in ([], ["kubeconfig"]):
            yield from _each(method(stack, *["kubeconfig"][: len(parameters)]))
    yield from (stack.validation_of(pool, "kubeconfig") for pool in stack.pools)


def _each(found: Any) -> Iterator[Any]:
    for each in found.values() if isinstance(found, dict) else [found]:
        if is_dataclass(each) and type(each).__name__.endswith("Args"):
            yield each


def stacks() -> Iterator[Stack]:
    """Each stack, and each with one setting more."""
    for configuration in BASES.values():
        yield load(configuration, credentials="{}")
        for model, name, place in SETTINGS:
            for here in places(configuration, place):
                found: Stack | None = None
                values = legal_values(model, name)
                while found is None and (value := next(values, MISSING)) is not MISSING:
                    found = _loaded(changed(configuration, here, value))
                if found is not None:
                    yield found


def _loaded(configuration: Any) -> Stack | None:
    try:
        return load(configuration)
    except SettingsError:
        return None


def defaults(arguments: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, value and default of each argument that has a default."""
    for field in fields(arguments):
        made_anew: Any = field.default_factory
        if field.name not in WIRED and not (made_anew is MISSING and field.default is MISSING):
            default = field.default if made_anew is MISSING else made_anew()
            yield f"{type(arguments).__name__}.{field.name}", getattr(arguments, field.name), default


@pytest.fixture(scope="module")
def seen() -> dict[str, bool]:
    """By argument, whether any stack has it otherwise than by default."""
    found: dict[str, bool] = {}
    for stack in stacks():
        for arguments in made(stack):
            for name, value, default in defaults(arguments):
                found[name] = found.get(name, False) or bool(value != default)
    return found


def test_every_argument_is_other_than_its_default_in_some_stack(seen: dict[str, bool]) -> None:
    assert {name for name, otherwise in seen.items() if not otherwise} == OF_OTHERS.keys()
    assert len(seen) > 60
