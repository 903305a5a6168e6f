"""Links from messages to the pages of this release: an installed wheel comes without the docs folder."""

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Final

_PAGE: Final = re.compile(r"\bdocs/([a-z-]+)\.md\b")


def page(name: str) -> str:
    """The address of a page, such as validation or validate#exit-codes; the file's path in a source tree."""
    site, (file, _, place) = _site(), name.partition("#")
    return f"{site}docs/{file}.html{place and f'#{place}'}" if site else f"docs/{file}.md"


def with_addresses(text: str) -> str:
    """The text with the addresses of pages in place of their paths."""
    return _PAGE.sub(lambda match: page(match[1]), text)


@cache
def _site() -> str:
    """The address of this release's pages, ending in a slash; empty if the distribution does not name it."""
    try:
        links = metadata("aks-infiniband").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(link.split(", ", 1) for link in links)
    return str(named.get("Documentation", ""))
