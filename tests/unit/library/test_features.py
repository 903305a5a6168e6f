"""A feature that is recorded as proven is proven by a test that is there."""

from pathlib import Path

from tests.records import record

_ROOT = Path(__file__).parents[3]


def test_every_feature_is_proven_by_a_test_that_is_in_the_file_that_it_names() -> None:
    features = [row for rows in record("features").values() for row in rows]
    assert len(features) > 30
    for row in features:
        assert row["tests"], row["what"]
        for file, names in row["tests"].items():
            source = (_ROOT / file).read_text(encoding="utf-8")
            head = "\n{}:" if file.endswith(".yaml") else "def {}("
            assert [name for name in names if head.format(name) not in f"\n{source}"] == [], row["what"]
