"""Messages lead to the pages of the release, or to the files of a source tree."""

from collections.abc import Iterator
from email.message import Message

import pytest
from aks_infiniband.terminal import pages

TOLD = "measure it again (docs/validate.md), or see docs/existing-cluster.md"


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A wheel that a release has built."""
    described = Message()
    described["Project-URL"] = "Repository, https://example.com/x"
    described["Project-URL"] = "Documentation, https://example.com/0.4.0/"
    monkeypatch.setattr(pages, "metadata", lambda _: described)
    pages._site.cache_clear()
    yield
    pages._site.cache_clear()


def test_a_source_tree_has_the_files() -> None:
    assert pages.with_addresses(TOLD) == TOLD
    assert pages.page("validate#exit-codes") == "docs/validate.md"


@pytest.mark.usefixtures("released")
def test_a_wheel_of_a_release_leads_to_the_site() -> None:
    site = "https://example.com/0.4.0/docs"
    assert pages.with_addresses(TOLD) == f"measure it again ({site}/validate.html), or see {site}/existing-cluster.html"
    assert pages.page("validate#exit-codes") == f"{site}/validate.html#exit-codes"
