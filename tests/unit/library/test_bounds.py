"""Every number that people give has bounds that make sense, the same in a stack file and as an argument."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest
from aks_infiniband.azure.arguments import SystemPool
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.release import DriverUpgrade
from aks_infiniband.resources.options import WaitArgs, Waits
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.validation.options import ValidationOptions
from pydantic import BaseModel

H100 = {"name": "a", "size": SIZES["Standard_ND96isr_H100_v5"], "gpu_driver": "operator"}
ORDINARY = {"name": "a", "vm_size": "Standard_D8s_v5"}
SECTIONS: list[tuple[Callable[..., Any], str, dict[str, Any], float, float]] = [
    (Waits, "poll_seconds", {}, 0.1, 3600),
    (Waits, "stable_seconds", {}, 0, 86400),
    (Waits, "timeout_seconds", {}, 1, 86400),
    (ValidationOptions, "timeout_seconds", {}, 1, 86400),
    (ValidationOptions, "tries", {}, 1, 3),
    (DriverUpgrade, "drain_timeout_seconds", {}, 0, 86400),
    (SystemPool, "count", {}, 1, 1000),
    (Autoscale, "min_count", {"max_count": 2}, 1, 1000),
    (Machines, "os_disk_size_gb", {}, 30, 2048),
    (OrdinaryPool, "count", ORDINARY, 1, 1000),
    (Pool, "node_count", H100, 1, 1000),
    (Pool, "ipoib_rails", {**H100, "node_count": 2}, 1, 16),
]
ARGUMENTS: list[tuple[Callable[..., Any], str, dict[str, Any], float, float]] = [
    (WaitArgs, "timeout_seconds", {}, 1, 86400),
]


def refusals(
    kind: Callable[..., Any], name: str, others: dict[str, Any], least: float, most: float
) -> Iterator[tuple[Any, str]]:
    """Each value out of bounds, with what refused it; those at the bounds are taken."""
    for fine in (least, most):
        assert getattr(kind(**others, **{name: fine}), name) == fine
    wrong: list[Any] = [least - 1e-9, most + 1, -1, 1e308, float("nan"), float("inf"), True, "3", [1]]
    for value in wrong:
        with pytest.raises(ValueError, match=r"must be a|Input should be") as refused:
            kind(**others, **{name: value})
        yield value, str(refused.value)


@pytest.mark.parametrize(("kind", "name", "others", "least", "most"), ARGUMENTS)
def test_an_argument_within_its_bounds_is_taken_and_any_other_is_refused_with_them(
    kind: Callable[..., Any], name: str, others: dict[str, Any], least: float, most: float
) -> None:
    for value, said in refusals(kind, name, others, least, most):
        assert f".{name} is {value!r}; must be a" in said
        assert f"from {least:g} to {most:g}" in said


def test_a_section_that_a_program_makes_has_the_bounds_of_a_stack_file() -> None:
    for kind, name, others, least, most in SECTIONS:
        for value, said in refusals(kind, name, others, least, most):
            assert re.search(rf"for {kind.__name__}\n{name}\n.*Input should be", said)
            assert f"input_value={value!r}" in said


@pytest.mark.parametrize("value", [0, -1, 1e9, float("nan"), "3"])
def test_a_limit_is_above_zero_and_below_what_nothing_measures(value: Any) -> None:
    with pytest.raises(ValueError, match=r"for GivenThreshold\nfail\n"):
        GivenThreshold(fail=value)
    assert GivenThreshold(warn=1.5).fail is None


def sections(model: type[BaseModel], found: set[type[BaseModel]]) -> set[type[BaseModel]]:
    if model not in found:
        found.add(model)
        for field in model.model_fields.values():
            inner = model_in(field.annotation)
            if inner is not None:
                sections(inner, found)
    return found


def is_number(hint: Any) -> bool:
    return hint in (int, float) or any(map(is_number, get_args(hint)))


def test_every_number_of_the_settings_has_a_least_and_a_most() -> None:
    numbers = [
        (f"{model.__name__}.{name}", schema)
        for model in sections(Settings, set())
        for name, schema in model.model_json_schema()["properties"].items()
    ]
    seen = 0
    for name, schema in numbers:
        for choice in schema.get("anyOf", [schema]):
            if choice.get("type") in ("integer", "number"):
                seen += 1
                assert {"minimum", "exclusiveMinimum"} & choice.keys(), name
                assert {"maximum", "exclusiveMaximum"} & choice.keys(), name
    assert seen > 20


@pytest.mark.parametrize("kind", sorted({kind for kind, *_ in ARGUMENTS}, key=str))
def test_every_number_of_these_arguments_has_bounds(kind: Any) -> None:
    for field in dataclasses.fields(kind):
        hint = field.type
        if is_number(hint):
            parts = (hint, *get_args(hint))
            assert any(hasattr(part, "__metadata__") for part in parts), f"{kind.__name__}.{field.name}"
