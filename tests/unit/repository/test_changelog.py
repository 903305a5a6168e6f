"""The version stands in one place, the package's; the changelog speaks of it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_newest_release_in_the_changelog_is_the_packages_version() -> None:
    package = tomllib.loads((ROOT / "components" / "pyproject.toml").read_text())["project"]["version"]
    headings = re.findall(r"^## \[(.+)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)

    assert headings[:2] == ["Unreleased", package]
