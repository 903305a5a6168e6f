"""Files and flags, and the words of commands about them."""

import json
import shlex
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
import yaml
from aks_infiniband_cli.main import main

from tests.cases import Case, patched
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.test_report_page import report, state

KUBECONFIG: Final = {
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "current-context": "c",
}


def outcome_of_input(case: Case) -> str:
    """The words of a `command` that cannot answer. Its folder has a kubeconfig, a state without resources, the
    project's values and `files`: text, in which {dev} stands for the stack file of dev, or a document; a list of
    documents is one of JSON's lines. `report` has the differences of a report in state.json from a usual one;
    `environment` has variables.
    """
    ((code, out, err),), _ = _ended([case["command"]], case)
    lines = [line for line in err.splitlines() if not line.startswith(("usage:", " "))]
    assert (code, out, len(lines)) == (2, "", 1), (case, err)
    assert "defect" not in lines[0]
    assert len(lines[0]) < 1500
    return lines[0]


def outcome_of_commands(case: Case) -> dict[str, Any]:
    """The exit codes and the words of `commands`, one after the other, and the files that they write."""
    ended, written = _ended(case["commands"], case)
    runs = [{"code": code, "said": f"{out}{err}".rstrip()} for code, out, err in ended]
    return {"runs": runs, **({"written": written} if written else {})}


def _ended(commands: Sequence[str], case: Case) -> tuple[list[tuple[object, str, str]], list[str]]:
    """Exit code, output and errors of each command, and the names of the files that they write."""
    files = {"kubeconfig": yaml.safe_dump(KUBECONFIG), "state.json": {"deployment": {}}, **case.get("files", {})}
    if "report" in case:
        files["state.json"] = state(patched(report(networks=[]), case["report"]))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("values").symlink_to(ROOT / "values")
        for name, content in files.items():
            text = _text(content).replace("{dev}", (ROOT / "Pulumi.dev.yaml").read_text())
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text, encoding="latin-1")
        before = {*Path().iterdir()}
        for name, value in case.get("environment", {}).items():
            patch.setenv(name, value)
        ended = [tuple(str(part).replace(f"{folder}/", "") for part in _run(command)) for command in commands]
        written = sorted(file.name for file in Path().iterdir() if file not in before)
    return [(int(code), out, err) for code, out, err in ended], written


def _run(command: str) -> tuple[object, str, str]:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code: object = main(shlex.split(command))
        except SystemExit as left:  # argparse reports a value that no flag can have
            code = left.code
    return code, out.getvalue(), err.getvalue()


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(f"{json.dumps(line)}\n" for line in content)
    return content if isinstance(content, str) else json.dumps(content)
