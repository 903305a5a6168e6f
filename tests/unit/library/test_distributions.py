"""The distributions are of one release."""

import tomllib
from typing import Any

import pytest

from rehearsal.tools.paths import PROJECT


def packaging(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((PROJECT / folder / "pyproject.toml").read_text())["project"]
    return found


@pytest.mark.parametrize(
    ("folder", "takes"),
    [
        ("command_line", "aks-infiniband"),
        ("rehearsal", "aks-infiniband"),
        ("rehearsal/tools/distribution", "aks-infiniband-rehearsal"),
    ],
)
def test_a_distribution_has_the_librarys_version_and_asks_for_the_library_of_it(folder: str, takes: str) -> None:
    version = packaging("components")["version"]
    assert packaging(folder)["version"] == version
    assert f"{takes}=={version}" in packaging(folder)["dependencies"]


@pytest.mark.parametrize("folder", ["components", "command_line", "rehearsal"])
def test_the_public_index_takes_a_distribution_and_its_types_are_published(folder: str) -> None:
    classifiers = packaging(folder)["classifiers"]
    assert "Typing :: Typed" in classifiers
    assert not [each for each in classifiers if each.startswith("Private")]
    assert list((PROJECT / folder).glob("**/py.typed"))


def test_the_rehearsal_asks_for_the_very_providers_that_its_tools_build() -> None:
    pinned = {line for line in (PROJECT / "requirements.txt").read_text().splitlines() if line.startswith("pulumi")}
    assert {name for name in packaging("rehearsal")["dependencies"] if name.startswith("pulumi")} == pinned
