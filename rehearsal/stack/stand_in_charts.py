"""The stand-ins' charts: those of the first release as they are, those of a later one made of them and what differs.

`charts/<release>/<chart>.yaml` says what differs, file by file: its mappings are merged over the file's, and lists of
as many mappings element by element. A text replaces the file, such as a template.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from rehearsal.run.folder import write_atomically
from rehearsal.stack.operator_charts import version_of
from rehearsal.stack.stack_file import CHARTS, NAMESPACE, StackFileError, find_charts, section

STAND_IN_CHARTS: Final = Path(__file__).parents[1] / "charts"
FIRST: Final = "26.4"
"""The release of the charts that are there as they are; a stack file that names none gets it."""
RELEASES: Final = (FIRST, *sorted(path.name for path in STAND_IN_CHARTS.iterdir() if re.match(r"\d", path.name)))
_VERSION: Final = re.compile(r"v?\d+\.\d+\.\d+")


def charts_for(config: Mapping[str, Any], folder: Path, *, into: Path) -> dict[str, Path]:
    """The chart of each setting in a folder; for the stand-ins', the result of `chosen`. into: the folder for later
    ones.

    Raises StackFileError.
    """
    if not _are_stand_ins(folder):
        return find_charts(folder)
    made = {setting: stand_in(release, CHARTS[setting], into=into) for setting, release in chosen(config).items()}
    return find_charts(STAND_IN_CHARTS) | made


def check(config: Mapping[str, Any], folder: Path) -> None:
    """Raises StackFileError if `charts_for` would; makes nothing."""
    if _are_stand_ins(folder):
        chosen(config)
    else:
        find_charts(folder)


def _are_stand_ins(folder: Path) -> bool:
    return folder.resolve() == STAND_IN_CHARTS.resolve()


def chosen(config: Mapping[str, Any]) -> dict[str, str]:
    """By setting, the release whose chart a stack file requires, or its version.

    A text that is neither a release nor a version is left to the program, whose messages say so. Raises StackFileError
    for a version without a stand-in.
    """
    asked = str(config.get(f"{NAMESPACE}:release") or FIRST)
    return {setting: _chosen(config, setting, asked if asked in RELEASES else FIRST) for setting in CHARTS}


def _chosen(config: Mapping[str, Any], setting: str, release: str) -> str:
    settings = section(config, setting) or {}
    chart = settings.get("chart")
    wanted = str(chart.get("version") or "") if isinstance(chart, dict) else ""
    if settings.get("existing") or not _VERSION.match(wanted):
        return release
    versions = {version_of_stand_in(each, CHARTS[setting]).removeprefix("v"): each for each in RELEASES}
    if (version := versions.get(wanted.removeprefix("v"))) is None:
        raise StackFileError(
            f"{setting}.chart.version {wanted} cannot be rehearsed: there are stand-ins of {' and '.join(versions)}. "
            "Leave it out, or give CHARTS= and a folder with that chart"
        )
    return version


def version_of_stand_in(release: str, name: str) -> str:
    """The version of a release's chart."""
    if release == FIRST:
        return version_of(STAND_IN_CHARTS / name)
    return str(_differing(release, name)["Chart.yaml"]["version"])


def stand_in(release: str, name: str, *, into: Path) -> Path:
    """The chart of a release; name: network-operator or gpu-operator. into: the folder for one of a later release."""
    first = STAND_IN_CHARTS / name
    if release == FIRST:
        return first
    made = into / release / name
    texts = {str(path.relative_to(first)): path.read_text(encoding="utf-8") for path in _files(first)}
    for file, differs in _differing(release, name).items():
        is_text = isinstance(differs, str)  # a template
        texts[file] = differs if is_text else _written(file, merged(yaml.safe_load(texts.get(file, "{}")), differs))
    for file, text in texts.items():
        path = made / file
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # an engine may be reading it
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
    return made


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, through its links: a subchart is one."""
    for path in sorted(folder.iterdir()):
        yield from _files(path) if path.is_dir() else [path]


def merged(before: Any, over: Any) -> Any:
    """A value over the earlier value."""
    if isinstance(before, dict) and isinstance(over, dict):
        return before | {key: merged(before.get(key), value) for key, value in over.items()}
    both = isinstance(before, list) and isinstance(over, list) and len(before) == len(over)
    if both and all(isinstance(each, dict) for each in (*before, *over)):
        return [merged(*pair) for pair in zip(before, over, strict=True)]
    return over


def _differing(release: str, name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((STAND_IN_CHARTS / release / f"{name}.yaml").read_text(encoding="utf-8"))
    return values


def _written(file: str, document: Any) -> str:
    return json.dumps(document) if file.endswith(".json") else yaml.safe_dump(document, sort_keys=False)
