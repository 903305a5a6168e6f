"""`aks-infiniband teardown`: what a destroyed stack has left is named with the command that removes it."""

import re

import pytest
from aks_infiniband_cli.main import main

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION


def test_the_transcripts_of_the_page_are_what_the_command_prints(
    endpoint: str, arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "teardown.md").read_text(encoding="utf-8")
    said = re.findall(r"^\$ aks-infiniband teardown -s dev\n((?:.*\n)+?)```", page, flags=re.MULTILINE)
    group = "MC_aks-infiniband-dev_aks-infiniband-dev_southcentralus"
    disk = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Compute/disks/os-0"
    for number, groups in enumerate(({}, {group: [disk]})):
        arm.groups = groups
        assert main(["teardown", "--endpoint", endpoint, "-s", "dev"]) == number
        assert capsys.readouterr().out.rstrip() == said[number].rstrip()
