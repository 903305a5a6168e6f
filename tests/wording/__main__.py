"""`python -m tests.wording` compares counts with ceilings; `--lower` lowers the ceilings; `--show PLACE` lists hits.

`--measure FOLDER` counts the Markdown of another project.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import yaml

from tests.wording import ceilings
from tests.wording.changes import Changes
from tests.wording.everything import ROOT, every_text
from tests.wording.habits import HABITS, hits, whole_sentences
from tests.wording.peers import measured, peers
from tests.wording.report import line, rates, rows, too_many
from tests.wording.text import Place


def main() -> int:
    """Exit code 1 if a count is above its ceiling."""
    parser = argparse.ArgumentParser(prog="python -m tests.wording", description=__doc__)
    parser.add_argument("--lower", action="store_true", help="lower each ceiling to its count")
    parser.add_argument("--show", choices=[place.value for place in Place], help="list the habits of one place")
    parser.add_argument("--habit", choices=list(HABITS), help="with --show: list this habit only")
    parser.add_argument("--measure", metavar="FOLDER", type=Path, help="count the Markdown of another project")
    options = parser.parse_args()
    if options.measure:
        print(yaml.safe_dump(measured(options.measure), sort_keys=False), end="")
        return 0
    texts = list(every_text())
    found = list(hits(texts))
    if options.show:
        chosen = [hit for hit in found if hit.text.place == options.show and options.habit in {None, hit.habit}]
        print("\n".join(line(hit) for hit in chosen))
        return 0
    counts, most = ceilings.counted(found), ceilings.read()
    if options.lower:
        most = ceilings.lowered(most, counts)
        ceilings.write(most)
        sentences = Counter(text.place for text, _ in whole_sentences(texts))
        print("\n".join([*rows(counts), "", *rates(counts, sentences, peers())]))
    wrong = too_many(found, most, Changes(ROOT, since_change_of=ceilings.FILE))
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
