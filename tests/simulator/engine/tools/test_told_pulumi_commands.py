"""Every command of pulumi in a page or a message is one that the pinned engine has."""

import re
import subprocess
from collections import defaultdict

from rehearsal.tools.paths import tool
from tests.told_commands import of_messages, of_pages

FAMILIES = {"stack", "config", "state"}
"""Commands that have subcommands."""
UNLISTED = {"--event-log"}
"""Listed for who debugs the engine only."""
NO_COMMAND = ("pulumi", "x", "failed")
"""A string that begins with the program's name."""


def test_the_engine_knows_every_command_and_flag() -> None:
    told = [each.words for each in (*of_pages(), *of_messages()) if each.words[0] == "pulumi"]
    used: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for words in told:
        if words != NO_COMMAND:
            verb = words[1 : 3 if words[1] in FAMILIES else 2]
            used[verb] |= {word.partition("=")[0] for word in words if word.startswith("--")}
    assert {("up",), ("destroy",), ("stack", "output")} <= set(used)
    for verb, flags in used.items():
        command = [str(tool("pulumi")), *verb, "--help"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # For an unknown command, it shows the help of the one above.
        named = re.search(rf"^  pulumi {' '.join(verb)}\b|^  .*\b{verb[-1]}\b.*\n\nFlags:", said, flags=re.MULTILINE)
        assert named, verb
        assert flags - {"--event-log"} <= set(re.findall(r"--[a-z-]+", said)), (
            verb
        )  # which is listed for debugging only
