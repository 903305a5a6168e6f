"""Answers at the ports that a `pulumi` command opens: in a rehearsal, to its owner's processes alone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import engine_on, run

PROGRAM = Path(__file__).parent / "knocking"
CALLBACKS = "python"
"""The program's own port takes a token for each function, which only the engine knows."""


@pytest.fixture(name="answers", scope="module")
def _answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("knocking")
    config = {"knocking:folder": str(folder), "knocking:project": str(PROJECT)}
    outcome = run(engine_on(PROGRAM, folder=folder, stack="dev", environment={}, config=config), "up")
    assert outcome.succeeded, outcome.errors
    answers: dict[str, Any] = json.loads((folder / "answers.json").read_text())
    return answers


def names(answers: dict[str, Any]) -> dict[str, str]:
    """Port -> program."""
    return {port: CALLBACKS if name.startswith(CALLBACKS) else name for port, name in answers["ports"].items()}


def test_every_program_of_a_command_serves_its_owner(answers: dict[str, Any]) -> None:
    assert set(names(answers).values()) == {"pulumi", "pulumi-language-python", "pulumi-resource-kubernetes", CALLBACKS}
    health = {name: answers["owner"]["calls"][port][0] for port, name in names(answers).items()}
    assert health.pop(CALLBACKS) == "UNIMPLEMENTED"
    # The last of the engine's ports takes logs, and does not report its health.
    assert {*health.values(), "OK", "UNIMPLEMENTED"} == {"OK", "UNIMPLEMENTED"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user of this computer")
def test_no_program_of_a_command_serves_another_user(answers: dict[str, Any]) -> None:
    for port, name in names(answers).items():
        refused = ["UNIMPLEMENTED"] * 2 if name == CALLBACKS else ["UNAVAILABLE"] * 2
        assert answers["neighbour"]["calls"][port] == refused, name
    assert answers["neighbour"]["pages"] == {}
