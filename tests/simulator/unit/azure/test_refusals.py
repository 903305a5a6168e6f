"""The table of refusals: each is used, and the words of a recorded one are Azure's."""

import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
import yaml

from rehearsal.azure.errors import REFUSALS
from tests.unit.field_recordings.recordings import recorded

TABLE = yaml.safe_load(REFUSALS.read_text(encoding="utf-8"))
RECORDED = {entry["name"]: " ".join(entry["excerpt"].split()) for entry in recorded("azure-errors")}
ALIKE = 0.65
"""The share of words that a recording has in the same order. Recordings are shortened, and their values differ."""


def test_every_refusal_of_the_table_is_used_and_none_is_missing() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(REFUSALS).parent.rglob("*.py"))
    named = set(re.findall(r'refused\(\s*"([\w-]+)"', sources)) | {"network-overlaps-itself", "inline-subnets-overlap"}
    assert named | {name for name in TABLE if name.startswith("fault-")} == set(TABLE)


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if "recorded" in row])
def test_the_words_of_a_recorded_refusal_are_those_of_the_recording(name: str) -> None:
    said, there = re.sub(r"\{[^}]*\}", "", TABLE[name]["says"]).split(), RECORDED[TABLE[name]["recorded"]].split()
    same = SequenceMatcher(None, said, there, autojunk=False).get_matching_blocks()
    assert sum(block.size for block in same) >= ALIKE * len(said)
