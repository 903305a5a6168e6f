"""What the library imports is what its package asks for."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import aks_infiniband
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = Path(aks_infiniband.__file__).parent
IN_PODS_ONLY = {"torch"}
"""What the sample's image has, and the library itself never imports."""
PART_OF_ANOTHER = {"pydantic_core", "markupsafe"}
"""Which pydantic and jinja2 bring, in the versions that they work with."""


def imported(path: Path) -> set[str]:
    """Top-level packages that a module imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


def test_every_third_party_import_is_a_declared_dependency_and_the_other_way_round() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["project"]
    asked = [
        *project["dependencies"],
        *(requirement for extra in project["optional-dependencies"].values() for requirement in extra),
    ]
    declared = {Requirement(text).name for text in asked}
    found = set().union(*map(imported, PACKAGE.rglob("*.py"))) - set(sys.stdlib_module_names)
    owners = packages_distributions()
    asked_for = {
        name: declared & {canonicalize_name(owner) for owner in owners[name]}
        for name in found - {"aks_infiniband"} - IN_PODS_ONLY - PART_OF_ANOTHER
    }
    assert [name for name, by in asked_for.items() if not by] == [], "imported, not declared"
    assert declared - set().union(*asked_for.values()) == set(), "declared, not imported"
