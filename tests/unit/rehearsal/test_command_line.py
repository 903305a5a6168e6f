"""The command tells of files that nobody can use in one sentence, before anything starts."""

import signal
from pathlib import Path

import pytest

from rehearsal import cli


@pytest.mark.parametrize(
    ("stack_file", "options", "said"),
    [
        (b"config:\n\t- x", [], "Pulumi.dev.yaml is not YAML: found character that cannot start any token in line 2"),
        (b"[" * 100_000, [], "Pulumi.dev.yaml is nested more than 64 deep, in line 1"),
        (b"config: {a:b: \xff}", [], "Pulumi.dev.yaml is not YAML: it is no text in UTF-8"),
        (b"config: {}", ["--subscription", "no-such-file"], "no-such-file: cannot be read: No such file or directory"),
        (b"config: {}", ["--subscription", "/dev/zero"], "/dev/zero: cannot be read: it is no file"),
        (b"config: {}", ["--faults", "no-such-file"], "no-such-file: cannot be read: No such file or directory"),
        (b"config: {}", ["--charts", "no-such-folder"], "no-such-folder holds no chart network-operator"),
    ],
)
def test_a_file_that_nobody_can_use_is_told_in_one_sentence(
    stack_file: bytes,
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    (tmp_path / "Pulumi.dev.yaml").write_bytes(stack_file)
    assert cli.main(["--project", str(tmp_path), "up", "dev", *options]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("rehearsal: ")
    assert said in last
    assert not (tmp_path / ".rehearsal").exists()
