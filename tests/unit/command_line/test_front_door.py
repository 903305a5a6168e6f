"""The front door of `aks-infiniband`: what a command answers reaches the terminal, a pipe or a program."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from aks_infiniband_cli import main as door
from aks_infiniband_cli.console import CommandError, at_work

from tests.unit.command_line.cases.front_door import command, exit_code_of
from tests.unit.command_line.documented import PAGE, documented


@pytest.mark.parametrize("broken", [ValueError("odd"), KeyError("name"), RecursionError(), TypeError("\x1b[2J")])
def test_an_error_that_nobody_foresaw_is_a_sentence_and_its_traceback_is_in_a_log(
    broken: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert exit_code_of(broken) == 2
    out, err = capsys.readouterr()
    (log,) = tmp_path.iterdir()
    assert (out, err.count("\n"), "\x1b" in err) == ("", 1, False)
    assert type(broken).__name__ in err
    assert err.endswith(f"please report it with the log {log}\n")
    assert "Traceback (most recent call last)" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_where_no_log_can_be_written_the_sentence_names_the_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert exit_code_of(KeyError("name")) == 2
    assert "front_door.py" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_who_waits_at_a_terminal_is_told_for_what_and_a_pipe_has_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with at_work("Reading the cluster") as say:
        say("Measuring pool ndh100")
    out, err = capsys.readouterr()
    assert (out, "Measuring pool ndh100" in err, bool(err)) == ("", terminal, terminal)


@pytest.mark.parametrize(
    ("line", "room", "slow"),
    [
        ("preflight -s dev", "preflight", "preflight.all_checks"),
        ("teardown -s dev", "teardown", "teardown.leftovers"),
        ("init --explain Pulumi.dev.yaml", "choose", "choose.explain"),
        ("report --state state.json --out page", "report", "report.files"),
        ("timeline --result r.json --state s.json --out page", "report", "report.timeline_page"),
    ],
)
def test_who_waits_is_told_before_a_command_imports_what_takes_seconds(
    line: str, room: str, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"aks_infiniband_cli.{slow}"

    def told(doing: str) -> None:
        raise CommandError(doing)

    monkeypatch.setattr(f"aks_infiniband_cli.{room}.command.at_work", told)
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert door.main(line.split()) == 2
    assert name not in sys.modules


def test_no_command_loads_a_client_or_the_engines_packages_before_it_needs_them() -> None:
    """Loading takes longer than the rest of a command."""
    code = "import sys; import aks_infiniband_cli.main, aks_infiniband_cli.doctor.examine; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert "aks_infiniband_cli.main" in loaded
    assert not {"pulumi", "pulumi_kubernetes", "lightkube", "azure.core", "matplotlib"} & loaded


def test_the_versions_of_command_and_library_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        door.main(["--version"])
    assert ended.value.code == 0
    command, library = version("aks-infiniband-cli"), version("aks-infiniband")
    assert capsys.readouterr().out == f"aks-infiniband {command} (library aks-infiniband {library})\n"


def test_flags_that_are_none_are_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "COMMANDS", (command(None),))
    with pytest.raises(SystemExit) as left:
        door.main(["look", "--pol"])
    assert left.value.code == 2


def test_who_reads_the_beginning_alone_gets_no_traceback() -> None:
    command = [sys.executable, "-m", "aks_infiniband_cli.main", "init", "--workload", "inference"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        started.stdout.close()
        assert started.stderr is not None
        assert started.stderr.read() == ""
    assert started.returncode == 1


def test_every_command_has_its_row_and_its_document_on_the_page() -> None:
    named = re.findall(r"^\| \[`([a-z]+)`\]", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(named) == sorted(documented()) == sorted(command.name for command in door.COMMANDS)
