"""The time to pull an image on the real thing, and its programs (images.yaml)."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

_TABLE: Final = Path(__file__).with_name("images.yaml")
_MEGABYTE: Final = 1_000_000


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(_TABLE.read_text())
    return table


def image_bytes(image: str) -> int:
    """Compressed size in bytes; 0 for what AKS's node images have already."""
    repository = _repository(image)
    if any(_lies_below(repository, cached) for cached in _table()["cached"]):
        return 0
    return int(_row("megabytes", repository, _table()["otherMegabytes"]) * _MEGABYTE)


def programs_of(image: str) -> tuple[str, ...] | None:
    """The names of an image's programs; None if no table says that it lacks one."""
    row = _row("programs", _repository(image), None)
    return None if row is None else tuple(row)


def programs_of_scripts() -> tuple[str, ...]:
    """The names of the programs that a shell's script finds in an image of which nothing is known."""
    return tuple(_table()["scripts"])


def gpu_libraries_of(image: str) -> str:
    """The vendor of an image's libraries for GPUs: rocm, or cuda."""
    return "rocm" if "rocm" in _repository(image).split("/") else "cuda"


def packages() -> dict[str, list[str]]:
    """The files that a distribution's packages put into a container, by package."""
    by_image: dict[str, list[str]] = _table()["packages"]
    return by_image


def pull_seconds(image: str) -> float:
    """Seconds from the request to an image that containers can be made of, on a real node that does not have it."""
    rates: list[float] = [_table()[f"{step}MegabytesPerSecond"] for step in ("download", "unpack")]
    return sum(image_bytes(image) / _MEGABYTE / rate for rate in rates)


def _row(table: str, repository: str, otherwise: Any) -> Any:
    """A table's entry for a repository, or the nearest one above it."""
    rows: dict[str, Any] = _table()[table]
    above = [row for row in rows if f"/{row}/" in f"/{repository}/"]
    return rows[max(above, key=len)] if above else otherwise


def _repository(image: str) -> str:
    """Without digest and tag; a colon before the last slash is a port's."""
    path, _, name = image.split("@", maxsplit=1)[0].rpartition("/")
    return f"{path}/{name.split(':')[0]}"


def _lies_below(repository: str, folder: str) -> bool:
    return f"{repository}/".startswith(f"{folder}/")
