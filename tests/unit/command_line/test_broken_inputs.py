"""Whatever a command is given, what is wrong is one sentence: what was read, the place, the value, what is allowed.

No traceback, and no word of a defect of the program itself: that would be for unforeseen errors.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband_cli.main import main

from tests.unit.command_line.cases.inputs import KUBECONFIG
from tests.unit.command_line.loopback import certified, serving

ROOT = Path(__file__).parents[3]
DEEP = "[" * 100_000 + "]" * 100_000
NODE = {"metadata": {"name": "node-1"}}


def refused(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The words of a command that cannot answer."""
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert "defect" not in err
    assert len(err) < 1500
    return err


@pytest.mark.parametrize("command", ["report --state FILE --out x", "validate --kubeconfig kubeconfig --against FILE"])
def test_a_file_that_is_nested_deeply_is_refused(command: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kubeconfig").write_text(yaml.safe_dump(KUBECONFIG))
    Path("FILE").write_text(DEEP)
    assert "nested more than" in refused(command, capsys)


ANSWERS: dict[str, tuple[Any, dict[str, str], str]] = {
    "a page": (b"<!DOCTYPE html><html>log in</html>", {"Content-Type": "text/html"}, "is not JSON"),
    "a page that says it is JSON": (b"<html>", {}, "is not JSON"),
    "nothing": (b"", {}, "is not JSON"),
    "null": (None, {}, "must be a mapping"),
    "null items": ({"kind": "NodeList", "items": None}, {}, "items is None; must be a list"),
    "an item that is null": ({"items": [NODE, None]}, {}, "items[1] is None"),
    "an item without a name": ({"items": [{"metadata": {}}]}, {}, "items[0].metadata.name is missing"),
    "an item without metadata": ({"items": [{"metadata": None}]}, {}, "items[0].metadata is None"),
    "labels that are a list": (
        {"items": [{"metadata": {"name": "n", "labels": ["a"]}}]},
        {},
        "items[0].metadata.labels is ['a']",
    ),
    "a spec that is text": ({"items": [{**NODE, "spec": "x"}]}, {}, "items[0].spec is 'x'"),
    "another document": ({"message": "hello"}, {}, "items is missing"),
    "deep JSON": (DEEP.encode(), {}, "nested more than"),
    "no text": (b"\xff\xfe", {}, "UTF-8"),
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(tmp_path_factory.mktemp("server"))


@pytest.mark.parametrize(
    ("case", "status"),
    [*((case, 200) for case in ANSWERS), *((case, 403) for case in ("a page", "nothing", "null", "deep JSON"))],
)
@pytest.mark.parametrize("command", ["doctor", "validate", "report --out x", "rollout --release"])
def test_what_is_no_api_server_is_told_with_its_address_and_what_it_answered(
    command: str, case: str, status: int, certificate: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body, headers, said = ANSWERS[case]
    with serving(lambda *_: (status, body, headers), certificate) as url:
        cluster = {"server": url, "insecure-skip-tls-verify": True}
        kubeconfig = {**KUBECONFIG, "clusters": [{"name": "c", "cluster": cluster}]}
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        err = refused(f"{command} --kubeconfig {tmp_path}/kubeconfig", capsys)
    assert url in err
    assert said in err or ("status 403" in err and "log in" in err)
