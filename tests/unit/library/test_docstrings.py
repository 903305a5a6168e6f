"""Every name and argument that a user of the library writes has a docstring."""

import ast
import dataclasses
import inspect
import re
import textwrap
from typing import Any

from aks_infiniband.stack.settings.mistakes import model_in

from tests.unit.library.public import ARGUMENTS, COMPONENTS, NAMES, SECTIONS, named


def documented_fields(of: type) -> set[str]:
    """The fields of a class, and of its bases, below which a docstring stands."""
    found: set[str] = set()
    for base in of.__mro__[:-1]:
        if not base.__module__.startswith("aks_infiniband"):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(body, ast.ClassDef)
        for field, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found.add(ast.unparse(field.target))
    return found


def undocumented(of: Any) -> set[str]:
    return set(of.__dataclass_fields__) - documented_fields(of)


def test_every_public_name_says_what_it_is() -> None:
    for name in [name for name in NAMES if not isinstance(named(name), dict)]:
        assert len(inspect.getdoc(named(name)) or "") > 20
        assert not re.match(rf"{name}\(", named(name).__doc__), "this is what dataclasses write themselves"


def test_every_field_of_a_public_argument_says_what_it_is() -> None:
    for name in ARGUMENTS:
        assert undocumented(named(name)) == set()


def test_every_value_of_a_public_section_says_what_it_is() -> None:
    for name in SECTIONS:
        values = {field for field, of in named(name).model_fields.items() if model_in(of.annotation) is None}
        assert values <= documented_fields(named(name))


def test_arguments_are_given_by_name_and_never_change() -> None:
    for name in ARGUMENTS:
        assert named(name).__dataclass_params__.frozen
        assert all(field.kw_only for field in dataclasses.fields(named(name)))


def test_a_component_takes_a_name_arguments_and_resource_options() -> None:
    for name in COMPONENTS:
        signature = inspect.signature(named(name))
        assert list(signature.parameters) == ["name", "args", "opts"]
        assert signature.parameters["opts"].default is None
        assert signature.parameters["args"].annotation in {named(f"{name}Args"), f"{name}Args"}


def test_every_output_of_a_component_is_typed() -> None:
    for name in COMPONENTS:
        component = named(name)
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(component))).body
        typed = {ast.unparse(item.target) for item in ast.walk(body) if isinstance(item, ast.AnnAssign)}
        public = {
            target.attr
            for item in ast.walk(body)
            if isinstance(item, ast.Assign)
            for target in item.targets
            if isinstance(target, ast.Attribute) and not target.attr.startswith("_")
        }
        assert public <= typed
