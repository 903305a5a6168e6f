"""Files and flags, and the words of commands about them."""

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband_cli.main import main

from tests.cases import Case, patched
from tests.unit.command_line.cases.clusters import patch_cluster
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.loopback import certified, kubeconfig, serving
from tests.unit.command_line.test_report_page import report, state

_DEEP: Final = "[" * 100_000 + "]" * 100_000


def outcome_of_input(case: Case) -> Any:
    """The words of a `command` that cannot answer; of several, once if they all say the same. Its folder has a
    kubeconfig, a state without resources, the project's values and `files`: text, in which {dev} stands for the stack
    file of dev, or a document; a list of documents is one of JSON's lines. `report` has the differences of a report in
    state.json from a usual one, or those of several; `environment` has variables, and `stdin` what a command reads
    there. The commands read `cluster` if it is given. `server` has the status, the body and the type of every answer of
    the server that the kubeconfig names.
    """
    commands = [case["command"]] if isinstance(case["command"], str) else case["command"]
    ended, _ = _ended(commands, case)
    said = {}
    for command, (code, out, err) in zip(commands, ended, strict=True):
        words = re.sub(r"\Ausage:.*\n(?: .*\n)*", "", err).rstrip().partition(" (choose from ")[0]  # Pythons differ
        assert (code, out) == (2, ""), (command, err)
        assert "defect" not in words
        assert len(words) < 1500
        said[command] = words
    if isinstance(case["command"], str):
        return said[commands[0]]
    shown = {command: words.partition(f" {command.split()[0]}: ")[2] for command, words in said.items()}
    return shown if len({*shown.values()}) > 1 else shown[commands[0]]


def outcome_of_commands(case: Case) -> dict[str, Any]:
    """The exit codes and the words of `commands`, one after the other, and the files that they write. `with`: only the
    lines with this text.
    """
    ended, written = _ended(case["commands"], case)
    lines = [[line for line in f"{out}{err}".splitlines() if case.get("with", "") in line] for _, out, err in ended]
    runs = [{"code": code, "said": "\n".join(said)} for (code, _, _), said in zip(ended, lines, strict=True)]
    return {"runs": runs, **({"written": written} if written else {})}


def _ended(commands: Sequence[str], case: Case) -> tuple[list[tuple[int, str, str]], list[str]]:
    """Exit code, output and errors of each command, and the names of the files that they write."""
    files = {"kubeconfig": kubeconfig("https://127.0.0.1:1"), "state.json": {"deployment": {}}, **case.get("files", {})}
    if "report" in case:
        changes = case["report"] if isinstance(case["report"], list) else [case["report"]]
        files["state.json"] = state(*(patched(report(networks=[]), change) for change in changes))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.chdir(folder)
        Path("values").symlink_to(ROOT / "values")
        places = {"{folder}": folder, "{python}": sys.executable, "{project}": str(ROOT), "{deep}": _DEEP}
        if "server" in case:
            places["{server}"] = stack.enter_context(_server(case["server"], Path(folder)))
            files["kubeconfig"] = kubeconfig("{server}")
        for name, content in files.items():
            text = _text(content).replace("{dev}", (ROOT / "Pulumi.dev.yaml").read_text())
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(_with(places, text), encoding="latin-1")
        before = {*Path().iterdir()}
        for name, value in case.get("environment", {}).items():
            patch.setenv(name, _with(places, value))
        if "stdin" in case:
            patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(_text(case["stdin"]).encode())))
        if "cluster" in case:
            patch_cluster(case["cluster"], patch)
        shown = {
            f"{folder}/": "",
            ", ".join(sorted(SIZES)): "{sizes}",
            **{place: name for name, place in places.items() if name != "{deep}"},
        }
        ended = [_run(_with(places, command)) for command in commands]
        written = sorted(file.name for file in Path().iterdir() if file not in before)
    return [(code, _with(shown, out), _with(shown, err)) for code, out, err in ended], written


@contextmanager
def _server(answer: Case, folder: Path) -> Iterator[str]:
    """A server that gives one answer to everything. Its body is text, or a document."""
    body = _text(answer["body"]).replace("{deep}", _DEEP).encode("latin-1")
    headers = {"Content-Type": answer.get("type", "application/json")}
    with serving(lambda *_: (answer.get("status", 200), body, headers), certified(folder)) as url:
        yield url


def _with(others: Mapping[str, str], text: str) -> str:
    """A text with others in place of some."""
    for old, new in others.items():
        text = text.replace(old, new)
    return text


def _run(command: str) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: Any = main(shlex.split(command))
        except SystemExit as left:  # argparse reports a value that no flag can have
            code = left.code
    return int(code), out.getvalue(), err.getvalue()


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(f"{json.dumps(line)}\n" for line in content)
    return content if isinstance(content, str) else json.dumps(content)
