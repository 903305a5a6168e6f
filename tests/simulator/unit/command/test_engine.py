"""The engine as a rehearsal starts it: what its environment holds, and that nothing which it says is lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.engine.events import Diagnostic
from rehearsal.engine.pulumi import Engine, Run
from rehearsal.run.loopback import reaching_loopback

PRINTED = """\
$ pulumi up --stack dev
Updating (dev):
    error: preview failed
error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the lock
  file:///tmp/backend/.pulumi/locks/x.json: created by root@vm (pid 4711) at 2026-11-22T07:00:00Z
Resources:
"""


def test_what_the_engine_prints_as_an_error_reaches_the_person(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("error: of the command before\n" + PRINTED)
    (tmp_path / "events").touch()
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(255)"])
    run = Run(process=process, event_log=tmp_path / "events", log=tmp_path / "log", log_start=29)
    told = [event for event in run.events() if isinstance(event, Diagnostic)]
    assert run.exit_code == 255
    assert [(event.severity, event.message.splitlines()) for event in told] == [
        (
            "error",
            [
                "the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete "
                "the lock",
                "  file:///tmp/backend/.pulumi/locks/x.json: created by root@vm (pid 4711) at 2026-11-22T07:00:00Z",
            ],
        )
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "127.0.0.1,localhost"),
        ({"no_proxy": "corp.example"}, "corp.example,127.0.0.1,localhost"),
        ({"NO_PROXY": "localhost,127.0.0.1"}, "localhost,127.0.0.1"),
    ],
)
def test_no_proxy_stands_before_loopback(given: dict[str, str], expected: str) -> None:
    made = reaching_loopback({"https_proxy": "http://proxy.example:3128", **given})
    assert made == {"https_proxy": "http://proxy.example:3128", "no_proxy": expected, "NO_PROXY": expected}


def test_the_engine_asks_no_proxy_for_loopback_and_takes_what_a_program_says_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    engine = Engine(
        project=tmp_path, folder=tmp_path, stack="dev", bin_folders=(), environment={}, log=tmp_path / "log"
    )
    environment = engine.environ()
    assert (environment["no_proxy"], environment["NO_PROXY"]) == ("127.0.0.1,localhost", "127.0.0.1,localhost")
    assert environment["https_proxy"] == "http://proxy.example:3128"
    assert "PYTHONUNBUFFERED" not in environment
    assert environment["TMPDIR"] == str(tmp_path / "tmp"), "whoever else is on this machine, and however small its /tmp"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("USER", "somebody", "somebody"),
        ("USER", "", str(os.getuid())),
        ("HOME", "/home/somebody", "/home/somebody"),
        ("HOME", "", "{folder}/home"),
    ],
)
def test_the_engine_knows_who_asks_also_where_no_passwd_has_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: str, expected: str
) -> None:
    monkeypatch.setenv(name, given)
    engine = Engine(
        project=tmp_path, folder=tmp_path, stack="dev", bin_folders=[], environment={}, log=tmp_path / "log"
    )
    assert engine.environ()[name] == expected.format(folder=tmp_path)
