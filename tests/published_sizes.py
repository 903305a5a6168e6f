"""`make sizes PUBLISHED=FOLDER`: compares the catalogue with published sizes. The program needs no network.

FOLDER may be a checkout of Azure's documentation, or what `az vm list-skus` printed: every file below it is read. A
size has RDMA if its lower-case features have an r, as those of ND96isr_H100_v5. That is assumed: every size of the
catalogue has it, and Azure's page of naming conventions (2023-05-01) explains other letters alone.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from aks_infiniband.facts.catalog import SIZES

_SIZE = re.compile(r"\bStandard_[A-Z]+\d+(?:-\d+)?[a-z]*r[a-z]*(?:[A-Z]+\d+)?(?:_[A-Za-z0-9]+)*\b")


def with_rdma(text: str) -> set[str]:
    """The names of all sizes with RDMA in a text."""
    return set(_SIZE.findall(text))


def texts(folder: Path) -> Iterator[str]:
    """The content of all files of a folder; a file may be given instead."""
    files = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):  # what git keeps of a checkout
            yield path.read_text(encoding="utf-8", errors="ignore")


def compared(published: Iterable[str], known: Iterable[str]) -> list[str]:
    """A line for each size that only one of both has. The catalogue's come last: a list may be of one region."""
    published, known = set(published), set(known)
    missing = [f"{name}: published, and not in the catalogue" for name in sorted(published - known)]
    return missing + [f"{name}: in the catalogue, and not published here" for name in sorted(known - published)]


def main(given: str) -> int:
    """Print the differences; 1 if the catalogue lacks a size, 2 if nothing was published."""
    folder = Path(given)
    if not given or not folder.exists():
        print(f"PUBLISHED is {given!r}; give a file or a folder that is there", file=sys.stderr)
        return 2
    published = {name for text in texts(folder) for name in with_rdma(text)}
    if not published:
        print(f"{folder} names no size with RDMA", file=sys.stderr)
        return 2
    print("\n".join([*compared(published, SIZES), f"{len(published)} published, {len(SIZES)} in the catalogue"]))
    return 1 if published - set(SIZES) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
