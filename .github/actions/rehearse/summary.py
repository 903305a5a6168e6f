"""What a rehearsal came to, as Markdown that fits a screen: from its result.json, or from its last words."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LAST_LINES = 25


def summary(stack: str, result: dict[str, Any] | None, log: str) -> Iterator[str]:
    """The lines. result: None if the rehearsal did not come so far that it wrote one."""
    if result is None:
        yield f"### {stack}: not rehearsed"
        yield from last_words(log)
        return
    yield f"### {stack}: {result['status']} in {result['makespan_s']:.0f} s"
    made = Counter(resource["status"] for resource in result["resources"])
    yield f"Resources: {', '.join(f'{count} {status}' for status, count in sorted(made.items())) or 'none'}."
    if result["validation"]:
        yield ""
        yield "| pool | verdict | checks | nodes |"
        yield "|---|---|---|---|"
        for pool, report in sorted(result["validation"].items()):
            verdicts = Counter(check["verdict"] for check in report["checks"])
            checks = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
            yield f"| {pool} | **{report['verdict']}** | {checks} | {len(report['nodes'])} |"
    if result["not_rehearsed"]:
        yield ""
        yield f"Not rehearsed: {', '.join(map(str, result['not_rehearsed']))}."
    if result["status"] != "succeeded":
        yield from last_words(log)


def last_words(log: str) -> Iterator[str]:
    """The end of the output, which says the cause and the next command."""
    yield ""
    yield "```text"
    yield from (line.replace("```", "'''") for line in log.splitlines()[-LAST_LINES:])
    yield "```"


def main() -> None:
    """Print the summary of a stack, from the paths of its result and of its output."""
    stack, result, log = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    found = json.loads(result.read_text()) if result.is_file() else None
    print("\n".join(summary(stack, found, log.read_text(errors="replace"))))


if __name__ == "__main__":
    main()
