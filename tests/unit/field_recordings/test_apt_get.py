"""The simulated apt-get says and ends as the real one did, on the same stream."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rehearsal.tools.paths import PROJECT
from tests.unit.field_recordings.recordings import recorded

SIMULATED = PROJECT / "rehearsal/machines/distribution/apt-get"


_MASKS = (
    (r"\([^)]*\)", "()"),
    (r"https?://\S+(?: \S+ InRelease)?", "URL"),
    (r"(Could not connect|Temporary failure resolving) .*", "no way"),
    (r"^(Inst|Conf|E: Unable to locate package) \S+", r"\1 NAME"),
    (r"\d+ not upgraded", "# not upgraded"),
)


def comparable(text: str) -> list[str]:
    """The lines without names of packages, versions, addresses and what the network says."""
    for pattern, instead in _MASKS:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text.splitlines()


@pytest.mark.parametrize("entry", recorded("apt-get"), ids=lambda entry: entry["case"])
def test_the_simulated_apt_get_ends_and_says_as_the_real_one(entry: dict[str, Any], tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    if entry["case"] == "package-there":
        (packages / "hello").mkdir()
    ended = subprocess.run(
        [str(SIMULATED), *entry["arguments"].split()],
        env={**os.environ, "REHEARSAL_CONTAINER": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == entry["code"]
    assert comparable(ended.stdout) == comparable(entry["excerpt"])
    assert comparable(ended.stderr) == comparable(entry["stderr"])
