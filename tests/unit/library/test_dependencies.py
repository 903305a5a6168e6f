"""The imports of the library and the command line are in the requirements of each of their packages."""

import ast
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import aks_infiniband
import aks_infiniband_cli
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = {"aks-infiniband": aks_infiniband, "aks-infiniband-cli": aks_infiniband_cli}
IN_PODS_ONLY = {"torch"}
"""Packages that the sample's image has. The library itself never imports them."""
PART_OF_ANOTHER = {"pydantic_core", "markupsafe", "grpc"}
"""Packages that pydantic, jinja2 and pulumi bring, in the versions that they work with."""


def imported(path: Path) -> set[str]:
    """Top-level packages that a module imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("distribution", PACKAGES)
def test_every_third_party_import_is_a_declared_dependency_and_the_other_way_round(distribution: str) -> None:
    package = PACKAGES[distribution]
    declared = {Requirement(text).name for text in requires(distribution) or []}
    modules = Path(str(package.__file__)).parent.rglob("*.py")
    found = set().union(*map(imported, modules)) - set(sys.stdlib_module_names)
    owners = packages_distributions()
    asked_for = {
        name: declared & {canonicalize_name(owner) for owner in owners[name]}
        for name in found - {package.__name__} - IN_PODS_ONLY - PART_OF_ANOTHER
    }
    assert [name for name, by in asked_for.items() if not by] == [], "imported, not declared"
    assert declared - set().union(*asked_for.values()) == set(), "declared, not imported"
