"""The simulated Azure's answers to `aks-infiniband preflight` and `teardown`, over the real clients' requests."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from aks_infiniband_cli.azure.rehearsed import VARIABLE
from aks_infiniband_cli.main import main

from tests.simulator.unit.azure.asking import Azure
from tests.simulator.unit.azure.people import logged_in

ROOT = Path(__file__).parents[4]


@pytest.fixture
def login(azure: Azure, tmp_path: Path) -> Iterator[Path]:
    """A shell in a rehearsal whose Azure holds nothing yet: the file with its address."""
    with logged_in(azure, tmp_path) as file:
        yield file


def test_preflight_of_every_stack_passes_in_the_simulated_subscription(
    login: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stack in ("dev", "mixed"):
        assert main(["preflight", "-s", stack, "--folder", str(ROOT), "--output", "json"]) == 0, capsys.readouterr()
        lines = {line["check"]: line for line in json.loads(capsys.readouterr().out)["checks"]}
        assert {line["state"] for line in lines.values()} == {"pass", "not checked"}
        unchecked = {check for check, line in lines.items() if line["state"] == "not checked"}
        assert unchecked <= {"charts and images", "price", "capacity"} | {c for c in lines if c.startswith("image")}


def test_teardown_finds_nothing_in_it(login: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teardown", "-s", "dev", "--folder", str(ROOT)]) == 0
    assert "Nothing of stack dev is left" in capsys.readouterr().out


def refusal(login: Path, path: str, *, token: bool) -> tuple[int, str]:
    """Azure's status and words for a GET of a path below the subscription."""
    place = json.loads(login.read_text())
    address = f"{place['endpoint']}/subscriptions/{place['subscription']}{path}?api-version=1"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {place['token']}"} if token else {})
    trusted = ssl.create_default_context(cafile=place["certificateAuthority"])
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, context=trusted)
    return refused.value.code, refused.value.read().decode()


def test_without_the_token_it_answers_nobody(login: Path) -> None:
    assert refusal(login, "", token=False)[0] == 401
    assert login.stat().st_mode & 0o077 == 0


def test_what_it_does_not_simulate_it_says(login: Path) -> None:
    assert "does not simulate a GET of" in refusal(login, "/providers/Microsoft.Batch", token=True)[1]


def test_a_shell_of_a_rehearsal_that_has_ended_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone.json"))
    assert main(["preflight", "-s", "dev", "--folder", str(ROOT)]) == 2
    assert "open a new shell for Azure itself" in capsys.readouterr().err
