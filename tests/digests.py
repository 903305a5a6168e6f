"""`make digests`: reads the current digests of the pinned images from registries, and writes them down. A person runs
it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from aks_infiniband.facts import versions
from aks_infiniband_cli.preflight.registry import Registries, RegistryError

FILE = Path(versions.__file__).with_name("digests.yaml")
_LINE = re.compile(r"^(?P<image>[a-z]\S+): (?:null|sha256:[0-9a-f]{64})$")


def renewed(lines: Iterable[str], digest_of: Callable[[str], str]) -> Iterator[str]:
    """The table's lines with today's digests. digest_of: of an image; raises RegistryError, which leaves its line."""
    for line in lines:
        found = _LINE.match(line)
        try:
            yield f"{found['image']}: {digest_of(found['image'])}" if found else line
        except RegistryError as error:
            print(f"{found['image'] if found else line}: {error}; left as it was", file=sys.stderr)
            yield line


if __name__ == "__main__":
    with Registries() as registries:
        text = "\n".join(renewed(FILE.read_text(encoding="utf-8").splitlines(), registries.digest))
    FILE.write_text(f"{text}\n", encoding="utf-8")
