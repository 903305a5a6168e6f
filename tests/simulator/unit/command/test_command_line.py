"""The command reports unusable files in one sentence, before anything starts."""

import signal
from pathlib import Path

import pytest

from rehearsal.azure.subscription import SubscriptionFileError
from rehearsal.azure.subscription import load as load_subscription
from rehearsal.cli import command as cli


@pytest.mark.parametrize(
    ("stack_file", "options", "said"),
    [
        (b"config:\n\t- x", [], "Pulumi.dev.yaml is not YAML: found character that cannot start any token in line 2"),
        (b"[" * 100_000, [], "Pulumi.dev.yaml is nested more than 64 deep, in line 1"),
        (b"config: {a:b: \xff}", [], "Pulumi.dev.yaml is not YAML: it is not text in UTF-8"),
        (b"config: {}", ["--subscription", "no-such-file"], "no-such-file: cannot be read: No such file or directory"),
        (b"config: {}", ["--subscription", "/dev/zero"], "/dev/zero: cannot be read: it is not a file"),
        (b"config: {}", ["--faults", "no-such-file"], "no-such-file: cannot be read: No such file or directory"),
        (b"config: {}", ["--faults", "no:x:file"], "no:x:file: cannot be read"),  # no picture in place of :x:
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
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_bytes(stack_file)
    assert cli.main(["--project", str(tmp_path), "up", "dev", *options]) == 2
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("rehearsal: ")
    assert said in last
    assert not (tmp_path / ".rehearsal").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("up dev --speed 0", "--speed: '0' must be a number from 0.01"),
        ("up dev --speed -1", "--speed: '-1' must be a number"),
        ("up dev --speed nan", "--speed: 'nan' must be a number"),
        ("up dev --speed 1e309", "--speed: '1e309' must be a number"),
        ("up dev --speed fast", "--speed: 'fast' must be a number"),
        ("up ../dev", "'../dev' must be letters"),
        ("up ..", "'..' must be letters"),
        ("down ../../home", "'../../home' must be letters"),
    ],
)
def test_what_no_rehearsal_can_be_asked_for_is_told_with_what_is_allowed(
    line: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as left:
        cli.main(line.split())
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_an_error_that_nobody_foresaw_is_a_sentence_and_its_traceback_is_in_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise KeyError("name")

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(cli, "stop_rehearsals", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["down", "dev"]) == 2
    (log,) = tmp_path.iterdir()
    out = capsys.readouterr().out
    assert out.startswith("rehearsal: this error is a defect of aks-infiniband: KeyError: 'name'; please report it")
    assert str(log) in out
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_a_subscription_of_another_form_is_told_by_its_keys(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text("regionalVcpus: -1\nregions: [x]\n")
    with pytest.raises(SubscriptionFileError) as refused:
        load_subscription(tmp_path / "file.yaml")
    told = str(refused.value)
    assert told.startswith(f"{tmp_path / 'file.yaml'}: is not a subscription like subscription.yaml:")
    assert "regionalVcpus is -1; must be greater than or equal to 0" in told
    assert "regions is ['x']; must be a mapping, key: value" in told
    assert "pydantic" not in told
