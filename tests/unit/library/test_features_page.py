"""docs/features.md: what it claims to be proven is proven by a test that is there."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "features.md"
LINKS = re.findall(r"\[([^\]]+)\]\((\.\./tests/[^)]+)\)", PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "target"), LINKS)
def test_every_proof_that_it_names_is_a_test_in_the_file_that_it_links(name: str, target: str) -> None:
    source = (PAGE.parent / target).resolve().read_text(encoding="utf-8")
    assert f"def test_{name.replace(' ', '_')}(" in source


def test_every_row_has_a_proof() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    features = [row for row in rows if not row.startswith("| what works")]
    assert len(features) > 30
    assert [row for row in features if "](../tests/" not in row] == []
