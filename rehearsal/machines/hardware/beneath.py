"""Writes files below a folder into which others may write. The writer follows no link, so it reaches nothing outside.

Every part of a path is opened beneath a descriptor of the one before. A file is written next to its place and put there
in one step: an old entry, be it a link, a pipe or a device, is not opened.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD_OR_NEW_FILE: Final = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, which is made if it is not there. files: by path below it."""
    root.mkdir(parents=True, exist_ok=True)
    by_folder = sorted(files, key=lambda path: path.rpartition("/"))
    for parent, group in groupby(by_folder, key=lambda path: path.rpartition("/")[0]):
        with _folder(root, parent, make=True, instead=True) as here:
            for path in group:
                _write(here, path.rpartition("/")[2], files[path])


def make_folder(root: Path, path: str) -> None:
    """Make a folder below another, and those on the way. Raises OSError if something else is in the way."""
    with _folder(root, path, make=True):
        pass


def make_file(root: Path, path: str) -> None:
    """Make an empty file if there is none. Raises OSError as `make_folder` does."""
    parent, _, name = path.rpartition("/")
    with _folder(root, parent, make=True) as here:
        os.close(os.open(name, _OLD_OR_NEW_FILE, 0o644, dir_fd=here))


def remove_file(root: Path, path: str) -> None:
    """Remove a file, and the folder that it was the last one in."""
    parent, _, name = path.rpartition("/")
    with suppress(FileNotFoundError, NotADirectoryError), _folder(root, parent, make=False) as here:
        os.unlink(name, dir_fd=here)
    above, _, name = parent.rpartition("/")
    with suppress(OSError), _folder(root, above, make=False) as here:
        os.rmdir(name, dir_fd=here)


def names(root: Path, path: str) -> list[str]:
    """The entries of a folder below another, in order. Raises OSError if it is not there, or is a link."""
    with _folder(root, path, make=False) as here:
        return sorted(os.listdir(here))  # noqa: PTH208 a descriptor has no path


@contextmanager
def _folder(root: Path, path: str, *, make: bool, instead: bool = False) -> Iterator[int]:
    """A descriptor of a folder below another.

    make: whether to make it, and those on the way; instead: and to take away what is in the way.
    """
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in PurePosixPath(path).parts:
            if name in {"/", ".."}:
                raise ValueError(f"{path} leads out of {root}")
            if make:
                _make(here, name, instead=instead)
            there = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = there
        yield here
    finally:
        os.close(here)


def _make(here: int, name: str, *, instead: bool) -> None:
    try:
        os.mkdir(name, dir_fd=here)
    except FileExistsError:
        if instead and not stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=here)
            os.mkdir(name, dir_fd=here)


def _write(here: int, name: str, text: str) -> None:
    draft = f".{name[:100]}.{secrets.token_hex(4)}"
    with os.fdopen(os.open(draft, _NEW_FILE, 0o644, dir_fd=here), "w", encoding="utf-8") as file:
        file.write(text)
    try:
        os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)
    except IsADirectoryError:
        shutil.rmtree(name, dir_fd=here)
        os.rename(draft, name, src_dir_fd=here, dst_dir_fd=here)
