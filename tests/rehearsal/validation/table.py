"""The table of a failed update, read back from what a terminal shows."""

import re


def rows(said: str) -> list[tuple[str, str, str]]:
    """Check, place (without spaces) and cause of each row of the table, put together again from its lines."""
    lines = said.splitlines()
    head = next(index for index, line in enumerate(lines) if re.search(r"CHECK +WHERE +EXPECTED +MEASURED", line))
    check, where, expected = (lines[head].index(name) for name in ("CHECK", "WHERE", "EXPECTED"))
    found: list[tuple[str, str, str]] = []
    for line in lines[head + 1 :]:
        if "next: " in line:
            break
        if line[check : check + 2].strip() and (not found or found[-1][2]):
            found.append(("", "", ""))
        name, place, cause = found.pop()
        if cause or "likely cause: " in line:
            found.append((name, place, f"{cause} {line.strip()}".strip()))
        else:
            place += line[where:expected].strip().replace(" ", "")
            found.append((name + line[check:where].strip(), place, cause))
    return found
