"""Others' words are printed as text: control characters are shown, and never sent to a terminal."""

import json
from unicodedata import category

from aks_infiniband.terminal import one_line, printable, printable_json
from hypothesis import given
from hypothesis import strategies as st

HARMFUL = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Categories of Unicode: controls, formats, surrogates, private and unassigned ones, ends of lines and paragraphs."""


def test_control_characters_are_shown_and_all_else_stays() -> None:
    for written, shown in [
        ("\x1b[2Jnothing is wrong", r"\x1b[2Jnothing is wrong"),
        ("\x1b]52;c;cm0gLXJm\x07", r"\x1b]52;c;cm0gLXJm\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("fail\rpass", r"fail\rpass"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("pass\u2028fail", r"pass\u2028fail"),
        ("\udcff", r"\udcff"),
        ("\U000e0041", r"\U000e0041"),
        ("two\n\tlines", "two\n\tlines"),
        ("Größe 5 µs, 日本, 🚀, \u00a0", "Größe 5 µs, 日本, 🚀, \u00a0"),
    ]:
        assert printable(written) == shown


def test_where_a_line_is_meant_its_end_is_shown_too() -> None:
    assert one_line("node-1\nnothing is wrong\t") == r"node-1\nnothing is wrong\t"


@given(st.text(st.characters()))
def test_no_text_keeps_what_a_terminal_obeys(text: str) -> None:
    assert not [char for char in one_line(text) if category(char) in HARMFUL]
    assert not [char for char in printable(text) if category(char) in HARMFUL and char not in "\n\t"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_says_the_same_without_them(text: str) -> None:
    written = printable_json(json.dumps({"a": text}, ensure_ascii=False, indent=2))
    assert json.loads(written) == {"a": text}
    assert not [char for char in written if category(char) in HARMFUL and char != "\n"]
