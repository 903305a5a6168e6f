"""Checks of the site that was built: `.ci/site`. A page loads nothing from elsewhere, and the search knows symptoms."""

import json
import re
import sys
from pathlib import Path
from typing import Final

from aks_infiniband_cli.doctor.catalogue import catalogue

from pages.site.navigation import NAVIGATION

_MOST_ENTRIES: Final = 25
_LOADED: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["'](?:https?:)?//|<link\b[^>]*\brel=["']stylesheet["'][^>]*//""",
    re.IGNORECASE,
)


def problems(site: Path) -> list[str]:
    """The faults of the site, a line each."""
    entries = sum(map(len, NAVIGATION.values()))
    every = [f"the navigation has {entries} entries, more than {_MOST_ENTRIES}"] if entries > _MOST_ENTRIES else []
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        every += [f"{page.relative_to(site)} loads {match[0]}…" for match in _LOADED.finditer(text)]
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    titles = json.loads(index.partition("(")[2].rpartition(")")[0])["alltitles"]
    return every + [
        f"the search has no heading {each.title!r}" for each in catalogue().values() if each.title not in titles
    ]


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]))) or 0)
