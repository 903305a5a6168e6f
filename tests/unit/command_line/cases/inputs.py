"""Files and flags that a command cannot use, and its one sentence about each."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

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
    files = {"kubeconfig": yaml.safe_dump(KUBECONFIG), "state.json": {"deployment": {}}, **case.get("files", {})}
    if "report" in case:
        files["state.json"] = state(patched(report(networks=[]), case["report"]))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("values").symlink_to(ROOT / "values")
        for name, content in files.items():
            text = _text(content).replace("{dev}", (ROOT / "Pulumi.dev.yaml").read_text())
            Path(name).write_text(text, encoding="latin-1")
        for name, value in case.get("environment", {}).items():
            patch.setenv(name, value)
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code: object = main(case["command"].split())
            except SystemExit as left:  # argparse reports a value that no flag can have
                code = left.code
    lines = [line for line in err.getvalue().splitlines() if not line.startswith(("usage:", " "))]
    assert (code, out.getvalue(), len(lines)) == (2, "", 1), (case, err.getvalue())
    assert "defect" not in lines[0]
    assert len(lines[0]) < 1500
    return lines[0].replace(f"{folder}/", "")


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(f"{json.dumps(line)}\n" for line in content)
    return content if isinstance(content, str) else json.dumps(content)
