"""`python -m tests.releases 0.3.0` makes what is Unreleased a version, in every file that says the version."""

import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[2]
DISTRIBUTIONS: Final = ("components", "command_line", "rehearsal", "rehearsal/tools/distribution")
_NUMBER: Final = re.compile(r"\d+\.\d+\.\d+")
_SECTION: Final = re.compile(r"^## \[Unreleased\]\n(?P<text>.*?)(?=^## \[)", re.MULTILINE | re.DOTALL)
_OURS: Final = r'(?P<before>^version = "|"aks-infiniband(?:-[a-z]+)?(?:\[[a-z,]+\])?==)'
"""The text before the version in a pyproject.toml: the key, or a distribution of ours that another one requires."""


class VersionError(ValueError):
    """There can be no such release; the text says why. Nothing was written."""


def number(version: str) -> tuple[int, ...]:
    """The parts of a version, such as 0.3.0. Raises VersionError."""
    if not _NUMBER.fullmatch(version):
        raise VersionError(f"version {version!r} must be three numbers, such as 0.3.0")
    return tuple(map(int, version.split(".")))


def changed(project: Path, version: str) -> dict[Path, str]:
    """The files of a release and what is in them then. Raises VersionError."""
    packages = {file: file.read_text() for file in (project / name / "pyproject.toml" for name in DISTRIBUTIONS)}
    found = re.search(rf'^version = "({_NUMBER.pattern})"', next(iter(packages.values())), re.MULTILINE)
    now = found[1] if found else ""
    if number(version) <= number(now):
        raise VersionError(f"version {version} must be above {now}, which the packages have")
    changelog = (project / "CHANGELOG.md").read_text()
    section = _SECTION.search(changelog)
    if section is None or not section["text"].strip():
        raise VersionError("CHANGELOG.md has nothing under Unreleased, above the last release")
    heading = f"## [{version}] - {datetime.now(UTC):%Y-%m-%d}"
    begin, end = section.span()
    log = f"{changelog[:begin]}## [Unreleased]\n\n{heading}\n{section['text']}{changelog[end:]}"
    place = re.compile(f'{_OURS}{re.escape(now)}"', re.MULTILINE)
    texts = {file: place.sub(rf'\g<before>{version}"', text) for file, text in packages.items()}
    return texts | {project / "CHANGELOG.md": log}


def main() -> None:
    """Write them, and the stack files of this release into its folder."""
    try:
        (version,) = sys.argv[1:]
    except ValueError:
        sys.exit("usage: python -m tests.releases VERSION")
    try:
        files = changed(PROJECT, version)
    except VersionError as error:
        sys.exit(str(error))
    for file, text in files.items():
        file.write_text(text)
    folder = PROJECT / "tests" / "releases" / version
    folder.mkdir(exist_ok=True)
    for stack in PROJECT.glob("Pulumi.*.yaml"):
        shutil.copy(stack, folder)


if __name__ == "__main__":
    main()
