"""The error of everything that is read from outside, and how it shows values and texts."""

import re
from typing import Any, Final

_LONGEST_LINE: Final = 1300
_LONGEST: Final = 200
"""Characters of a value in an error."""


class HandwrittenError(ValueError):
    """Something that cannot be read, or has another form. The text continues the name of what was read.

    The text contains nothing of a file's content, except the value that has the wrong form.
    """

    def __init__(self, reason: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path
        """The place of the value; empty if that is not known, or if the value is the whole."""

    def at_its_place(self) -> str:
        """The text with the value's place before it, such as `pools[0].count is nan; it must be …`."""
        return f"{place(self.path)} {self}" if self.path else str(self)


def place(path: tuple[str | int, ...]) -> str:
    """A path in a document as people write it: checks[3].node."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{word(part)}" for part in path).removeprefix(".")


def word(part: Any) -> str:
    """A key as people write it, and only the beginning of a long one."""
    return str(part) if re.fullmatch(r"[\w./:@ -]{1,100}", str(part)) else shortened(part)


def shortened(value: object) -> str:
    """A value as an error shows it: in Python's notation, only both ends of a long one, and no password of a URL."""
    try:
        text = repr(value)
    except ValueError:
        text = "a number of more than 4,300 digits"
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return re.sub(r"(?<=://)[^/@\s…]+(@|…)|[^/@\s…'\"]+:[^/@\s…]+(@)", r"…\1\2", text)


def first_lines(text: str) -> str:
    """As much of an error's text as people read: its first lines, within 2 kB, and how many more there are."""
    lines = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in text.splitlines()]
    kept, size = lines[:1], 0
    for line in lines[1:]:
        size += len(line.encode(errors="replace")) + 1
        if size > _LONGEST_LINE + 500:
            return "\n".join([*kept, f"  … and {len(lines) - len(kept)} more"])
        kept.append(line)
    return "\n".join(kept)
