"""Files that people write by hand are read by the engine's rules; no file ends in a traceback or an error with its
content.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.handwritten import MOST_BYTES, HandwrittenError, parse, read, shortened

AS_THE_ENGINE_READS: dict[str, Any] = {
    **{word: word for word in ("yes", "no", "on", "off", "y", "n", "Yes", "tRue", "nUll", "1:30", "190:20:30")},
    **{word: word for word in ("0o8", "_1", "<<x", "=", "0b102", "1,000", ".5_", "1.2.3", "v1.35")},
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("~", "null", "Null", "NULL", "")),
    **{"false": False, "010": 8, "0o10": 8, "0x1F": 31, "0b101": 5, "1_000": 1000, "1e3": 1000, "5.": 5, "+12": 12},
    **{"-12": -12, "00": 0, "08": 8, "1__0": 10, "1_": 1, "0x_1F": 31, "-0x1F": -31, "-010": -8, "-0b11": -3},
    **{"1.5": 1.5, ".5": 0.5, "0.10": 0.1, "1.34": 1.34, "6.02_2": 6.022, "-0o7": -7, "12e03": 12000},
}
"""Seen of Pulumi 3.272.0 (`pulumi config --json` on a stack file with these words), which reads with yaml.v3."""


def test_a_word_without_quotes_means_what_it_means_to_the_engine() -> None:
    for word, expected in AS_THE_ENGINE_READS.items():
        read = parse(f"key: {word}")["key"]
        assert (read, type(read)) == (expected, type(expected))


def test_keys_are_text_and_quotes_make_text() -> None:
    assert parse("1: a\n2: b\n'true': c\non: d") == {"1": "a", "2": "b", "true": "c", "on": "d"}
    assert parse("- \"off\"\n- '1'\n- !!str 12\n- |-\n  1.35") == ["off", "1", "12", "1.35"]


def test_anchors_are_filled_in() -> None:
    text = "a: &a {x: 1, y: 1}\nb: {<<: *a, y: 2}\nc: *a\nd: {<<: [*a, {z: 3}]}"
    whole = {"x": 1, "y": 1}
    assert parse(text) == {"a": whole, "b": {"x": 1, "y": 2}, "c": whole, "d": {**whole, "z": 3}}


BROKEN: dict[str, tuple[str | bytes, str]] = {
    "a bracket that is not closed": ("a: [s3cret", "is not YAML: did not find expected ',' or ']' in line"),
    "a tab": ("a:\n\ts3cret: 1", "is not YAML: found character that cannot start any token in line 2"),
    "another encoding": (b"a: s3cret\xff\xfe", "is not YAML: it is not text in UTF-8"),
    "control characters": ("a: s3cret\x00", "is not YAML: it is not text in UTF-8"),
    "two documents": ("--- s3cret\n--- 2\n", "is not YAML: but found another document in line 2"),
    "an anchor that is not there": ("a: *s3cret", "is not YAML: found undefined alias in line 1"),
    "100,000 brackets": ("[" * 100_000, "is nested more than 64 deep, in line 1"),
    "100,000 mappings": ("{a: " * 100_000, "is nested more than 64 deep, in line 1"),
    "a list that contains itself": ("a: &a [1, *a]", "holds a value that contains itself, in line 1"),
    "a mapping that contains itself": ("a: &a\n  b: {c: *a}", "holds a value that contains itself, in line 2"),
    "anchors that multiply": (
        "a: &a [1]\n" + "\n".join(f"{name}: &{name} [{f'*{of},' * 10}]" for of, name in pairwise("abcdefgh")),
        "holds more than 20,000 values",
    ),
    "too many values": ("[" + "1," * 30_000 + "]", "holds more than 20,000 values"),
    "a key given twice": ("a: {x: 1}\nb:\n  x: s3cret\n  x: 2", "has the key 'x' twice in one mapping, in line 4"),
    "a key that is a list": ("? [a, b]\n: 1", "has a key that is not text, in line 1"),
    "a key that is an anchor's": ("a: &a [1]\n*a : 2", "has a key that is not text, in line 2"),
    "a tag of Python's": ("a: !!python/object:os.system s3cret", "has a tag, in line 1"),
    "a tag that does not fit": ("a: !!str [1]", "is not YAML: expected a scalar node, but found sequence in line 1"),
    "infinity": ("a: .inf", "has a number that JSON cannot hold, in line 1"),
    "a number beyond all": ("a: 1e999", "has a number that JSON cannot hold, in line 1"),
    "a number of 5,000 digits": (f"a: {'9' * 5000}", "has a number that JSON cannot hold, in line 1"),
    "a date": ("a: 2026-11-22", "has a date that must be in quotes, in line 1"),
    "a merge of no mapping": ("a: {<<: s3cret}", "is not YAML: expected a mapping or list of mappings"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_broken_is_told_with_its_line_and_without_its_content(kind: str, tmp_path: Path) -> None:
    text, reason = BROKEN[kind]
    file = tmp_path / "file.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(HandwrittenError) as refused:
        read(file)
    assert str(refused.value).startswith(reason)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no-such-file", "cannot be read: No such file or directory"),
        ("/", "cannot be read: it is not a file"),
        ("/dev/zero", "cannot be read: it is not a file"),
        ("~no-such-user/file", "no such home folder"),
        ("a\0b", "cannot be read: no file can have this name"),
        ("x" * 5000, "cannot be read: File name too long"),
    ],
)
def test_a_path_that_leads_to_no_file_is_told(path: str, reason: str) -> None:
    with pytest.raises(HandwrittenError, match=reason):
        read(path)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as opened:
        opened.truncate(100 * MOST_BYTES)
    with pytest.raises(HandwrittenError, match="it has more than 1,000,000 bytes"):
        read(file)


@pytest.mark.parametrize("value", ["x" * 10**6, ["x" * 10**6] * 100, {str(n): n for n in range(1000)}, 10**4000])
def test_a_value_is_shown_in_few_words(value: Any) -> None:
    assert len(shortened(value)) <= 201
    assert shortened(["off", 1, None]) == "['off', 1, None]"
