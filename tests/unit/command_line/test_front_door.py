"""The front door of `aks-infiniband`: what a command answers reaches the terminal, a pipe or a program."""

import argparse
import json
import re
import subprocess
import sys

import pytest
from aks_infiniband_cli import main as door
from aks_infiniband_cli.console import FOUND, Answer, Command, CommandError, at_work

from tests.unit.command_line.documented import PAGE, documented


def command(answer: Answer | BaseException) -> Command:
    def run(given: argparse.Namespace) -> Answer:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def declare(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--pool", required=True)

    return Command(name="look", help="h", description="d", example="e", declare=declare, run=run, extra="glasses")


def run(monkeypatch: pytest.MonkeyPatch, answer: Answer | BaseException, *flags: str) -> int:
    monkeypatch.setattr(door, "COMMANDS", (command(answer),))
    return door.main(["look", "--pool", "ndh100", *flags])


ANSWER = Answer(document={"pools": ["ndh100"]}, text="pool ndh100", shown="[bold]pool[/] ndh100", exit_code=FOUND)


def test_a_pipe_gets_plain_text_and_the_exit_code_says_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, ANSWER) == 1
    assert capsys.readouterr() == ("pool ndh100\n", "")


def test_a_program_gets_one_json_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, ANSWER, "--output", "json") == 1
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "pools": ["ndh100"]}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CommandError("there is no cluster"), "there is no cluster"),
        (FileNotFoundError(2, "No such file", "x"), "[Errno 2] No such file: 'x'"),
        (ModuleNotFoundError("No module named 'lens'"), "pip install 'aks-infiniband-cli[glasses]'"),
    ],
)
def test_where_there_is_no_answer_standard_error_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, said: str
) -> None:
    assert run(monkeypatch, error, "--output", "json") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aks-infiniband look: ")
    assert said in err


@pytest.mark.parametrize(("given_up", "code"), [(EOFError(), 2), (KeyboardInterrupt(), 130)])
def test_who_gives_up_at_a_question_gets_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given_up: BaseException, code: int
) -> None:
    assert run(monkeypatch, given_up) == code
    assert capsys.readouterr().err == "aks-infiniband look: stopped\n"


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
        ("preflight -s dev", "preflight", "preflight.looking"),
        ("teardown -s dev", "teardown", "teardown.looking"),
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


def test_flags_that_are_none_are_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "COMMANDS", (command(ANSWER),))
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
