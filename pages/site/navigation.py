"""The order of the pages: 25 entries by the kinds of reader. A page below an entry shows when the entry is opened."""

import re
from collections.abc import Iterator
from typing import Final

NAVIGATION: Final[dict[str, dict[str, list[str]]]] = {
    "Start": {
        "docs/tutorial": [],
        "docs/how-it-works": ["docs/features", "docs/README"],
    },
    "Deploy a cluster": {
        "docs/init": ["docs/environments"],
        "docs/machines": ["docs/dra", "docs/gb300", "docs/mi300x", "docs/roce"],
        "docs/existing-cluster": ["docs/chart"],
        "docs/preflight": [],
        "docs/workloads": ["docs/scheduling", "docs/storage", "examples/jobs/README"],
        "docs/teardown": [],
    },
    "Operate a cluster": {
        "docs/doctor": [
            "docs/symptoms/nodes",
            "docs/symptoms/controllers",
            "docs/symptoms/ofed",
            "docs/symptoms/device_plugins",
            "docs/symptoms/gpus",
            "docs/symptoms/workloads",
            "docs/symptoms/networks",
            "docs/symptoms/lifecycle",
            "docs/assistants",
        ],
        "docs/validate": ["docs/validation", "docs/report"],
        "docs/light-check": ["docs/observability"],
        "docs/replace": ["docs/evidence", "docs/node-repair"],
        "docs/rollout": [],
        "docs/upgrade": [],
    },
    "Use the library": {
        "docs/afternoon": [],
        "docs/library": [
            "examples/own-aks/README",
            "examples/any-cluster/README",
            "examples/terraform/README",
            "examples/plain-aks/README",
        ],
        "docs/api": [],
        "docs/languages": [],
        "docs/rehearse-your-program": [],
    },
    "Look up": {
        "docs/settings": [],
        "docs/command-line": [],
        "docs/trust": ["SECURITY"],
        "docs/measurements": [],
        "docs/releases": ["CHANGELOG", "docs/support"],
    },
    "Contribute": {
        "CONTRIBUTING": [
            "STYLE",
            "docs/judging",
            "docs/rehearsal",
            "docs/real-tools",
            "rehearsal/CONTRIBUTING",
            "components/README",
            "command_line/README",
            "rehearsal/README",
            "tests/recordings/README",
            "tests/field_recordings/README",
            "tests/conformance/README",
            "tests/releases/README",
            "tests/rehearsal/upgrade/README",
            "tests/unit/validation/transcripts/README",
        ],
    },
}
"""Caption → entry → pages below the entry. Sphinx warns of a page that is missing here."""

_TABS: Final = re.compile(r"<!-- tabs -->\n(.*?)<!-- end of tabs -->\n", re.DOTALL)
_TAB: Final = re.compile(r"^\*\*(.+)\*\*$\n", re.MULTILINE)


def names() -> Iterator[str]:
    """Every page, without its suffix."""
    for entries in NAVIGATION.values():
        for entry, below in entries.items():
            yield entry
            yield from below


def tables(page: str, first: str) -> str:
    """The hidden tables of contents of a page: of the first page, all entries; of an entry, the pages below it."""
    if page == first:
        return "".join(_table([f":caption: {caption}"], list(entries)) for caption, entries in NAVIGATION.items())
    below = next((entries[page] for entries in NAVIGATION.values() if page in entries), [])
    return _table([], below) if below else ""


def _table(options: list[str], pages: list[str]) -> str:
    lines = ["", "```{toctree}", ":hidden:", *options, "", *(f"/{page}" for page in pages), "```", ""]
    return "\n".join(lines)


def with_tabs(text: str) -> str:
    """The text with a tab for each bold label between `<!-- tabs -->` and `<!-- end of tabs -->`."""
    return _TABS.sub(lambda match: _tab_set(match[1]), text)


def _tab_set(text: str) -> str:
    before, *parts = _TAB.split(text)
    items = "".join(
        f"::::{{tab-item}} {label}\n:sync: {label}\n{content.rstrip()}\n::::\n\n"
        for label, content in zip(parts[::2], parts[1::2], strict=True)
    )
    return f"{before}\n:::::{{tab-set}}\n\n{items}:::::\n\n"
