"""`kubectl infiniband`: kubectl finds the command on the PATH, and hands it what follows."""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from aks_infiniband_cli.main import command_parser, kubectl_parser, kubectl_plugin

from tests.unit.command_line.test_report_page import report

PROGRAMS = Path(sys.executable).parent


def kubectl(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run kubectl of the environment as a shell does, with the environment's programs on the PATH."""
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    command = [str(PROGRAMS / "kubectl"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)


def test_kubectl_runs_the_command_and_hands_on_flags_and_exit_code(tmp_path: Path) -> None:
    (tmp_path / "measured.json").write_text(json.dumps(report()))
    ran = kubectl("infiniband", "report", "--report", "measured.json", "--junit", "junit.xml", folder=tmp_path)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("pool ndh100: fail")
    assert (tmp_path / "junit.xml").read_text().startswith("<?xml")
    refused = kubectl("infiniband", "report", "--report", "gone.json", "--junit", "other.xml", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("kubectl infiniband report: gone.json cannot be read")


def test_kubectl_lists_the_plugin(tmp_path: Path) -> None:
    ran = kubectl("plugin", "list", folder=tmp_path)
    assert "kubectl-infiniband" in ran.stdout


def commands_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    [found] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found.choices)


def test_it_offers_what_needs_a_cluster_alone_with_the_flags_of_the_command() -> None:
    own, plugin = commands_of(command_parser()), commands_of(kubectl_parser())
    assert set(plugin) == {"doctor", "validate", "evidence", "replace", "report"}
    for name, parser in plugin.items():
        flags, same = ([a.option_strings for a in p._actions] for p in (parser, own[name]))
        assert flags == same


@pytest.mark.parametrize("name", ["doctor", "validate", "evidence", "replace", "report"])
def test_usage_and_example_say_what_people_type(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        kubectl_plugin([name, "--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"usage: kubectl infiniband {name}")
    assert re.search(rf"example: (?:.*\| )?kubectl infiniband {name}", said)


def test_a_command_that_the_plugin_does_not_offer_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        kubectl_plugin(["init"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: kubectl infiniband")
