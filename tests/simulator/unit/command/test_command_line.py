"""The command reports unusable files in one sentence, before anything starts."""

import signal
from pathlib import Path

import pytest

from rehearsal.azure.subscription import SubscriptionFileError
from rehearsal.azure.subscription import load as load_subscription
from rehearsal.cli import command as cli


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
