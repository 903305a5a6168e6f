"""The input of a command in files and pipes: read in one way; a fault is reported in one sentence."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError, json_document

from aks_infiniband_cli.console import CommandError, json_of

MOST_BYTES: Final = 256 << 20
"""Size of one file; the state of a stack with 50 pools has less than 100 MB."""
STDIN: Final = "-"


@contextmanager
def named(what: str | Path) -> Iterator[None]:
    """Add the source of an input error: a file, or a cluster. Raises CommandError in its place."""
    try:
        yield
    except HandwrittenError as error:
        raise CommandError(f"{what}: {error.at_its_place()}") from error


def name_of(file: str | Path) -> str:
    """The name of a given file in an error."""
    return "standard input" if str(file) == STDIN else str(file)


def content_of(file: str | Path) -> bytes:
    """The content of a file, or of a pipe; - is standard input. Raises CommandError."""
    try:
        if str(file) == STDIN:
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).expanduser().open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name_of(file)} cannot be read: {error.strerror}") from error
    except (RuntimeError, ValueError) as error:
        raise CommandError(
            f"{name_of(file)} cannot be read: no file can have this name, or no such home folder"
        ) from error
    if len(content) > MOST_BYTES:
        raise CommandError(f"{name_of(file)} cannot be used: it has more than {MOST_BYTES:,} bytes")
    return content


def require_new(named: Mapping[str, Path]) -> None:
    """Raises CommandError for a file that cannot be made, before anything is done for what it would hold.

    named: files, by the flag that names each.
    """
    flags = dict[Path, str]()
    for flag, file in named.items():
        if file.exists():
            raise CommandError(f"{file} is there already, and is not overwritten: {flag} names another file")
        if not file.parent.is_dir():
            raise CommandError(
                f"{file} cannot be made: the folder {file.parent} does not exist; {flag} names another file"
            )
        other = flags.setdefault(file.resolve(), flag)
        if other != flag:
            raise CommandError(f"{file} is named by {other} and {flag}: give each its own file")


def write_document(document: Mapping[str, Any], file: Path) -> None:
    """Keep a command's document for its owner's eyes. Raises FileExistsError: no file is overwritten."""
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(json_of(document) + "\n", encoding="utf-8")


def json_file(file: str | Path) -> Any:
    """The JSON document of a file; - is standard input. Raises CommandError."""
    with named(name_of(file)):
        return json_document(content_of(file))


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there yet. Raises CommandError for one that is."""
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise CommandError(f"{file} is there already: name another stack, or move it away") from error
