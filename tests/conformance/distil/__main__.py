"""Makes the facts for the conformance tests from the originals, which stay in their folder.

    python -m tests.conformance.distil FOLDER           # writes tests/conformance/facts/
    python -m tests.conformance.distil --check FOLDER   # writes nothing; fails if the facts are not the originals'

FOLDER holds the originals under the names that `originals.py` lists, with the public repository, release and commit
that each is found at. Every file of facts carries those, and its original's SHA-256.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from tests.conformance.distil.form import dumped
from tests.conformance.distil.originals import ORIGINALS, Original
from tests.conformance.facts import FOLDER, file_of

_HEAD = "# Distilled by `make facts`: see tests/conformance/distil. Not for editing.\n"


def written(original: Original, content: bytes) -> str:
    """A file of facts, made from its original."""
    where = {"origin": original.source} if isinstance(original.source, str) else asdict(original.source)
    source = {**where, **({"path": original.path} if original.path else {}), "sha256": sha256(content).hexdigest()}
    return _HEAD + dumped({"source": source, **original.facts(content.decode("utf-8"))})


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or compares the facts of every original that is there; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.distil", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the originals are")
    parser.add_argument("--check", action="store_true", help="only compare, and fail where facts are out of date")
    given = parser.parse_args(arguments)
    stale = missing = 0
    for original in ORIGINALS:
        path, facts = given.folder / original.file, file_of(original.file)
        if not path.is_file():
            missing += 1
            print(f"not compared: {facts.relative_to(FOLDER)}: {path} does not exist")
            continue
        text = written(original, path.read_bytes())
        if facts.is_file() and facts.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'out of date' if given.check else 'written'}: {facts.relative_to(FOLDER)}")
        if not given.check:
            facts.parent.mkdir(parents=True, exist_ok=True)
            facts.write_text(text, encoding="utf-8")
    print(f"{len(ORIGINALS) - missing} of {len(ORIGINALS)} originals compared, {stale} with other facts")
    return 1 if missing == len(ORIGINALS) or (given.check and stale) else 0


if __name__ == "__main__":
    sys.exit(main())
