"""A cluster that does not answer, or whose login fails, is not an answer: not a finding, and not a traceback."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from aks_infiniband_cli.main import main

ROOT = Path(__file__).parents[3]
COMMANDS = (
    "doctor --kubeconfig kubeconfig",
    "adopt lab --kubeconfig kubeconfig",
    "validate --kubeconfig kubeconfig",
    "validate --uncordon --kubeconfig kubeconfig",
    "evidence a --kubeconfig kubeconfig",
    "rollout --kubeconfig kubeconfig",
    "rollout --release --kubeconfig kubeconfig",
    "report --kubeconfig kubeconfig --out page",
    "teardown -s there",
)


@pytest.fixture
def address() -> Iterator[str]:
    """An address on loopback at which no program listens, and no other can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"https://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(params=["no-listener", "expired-login"])
def said(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> str:
    """A command's words on the cluster of `kubeconfig`, which `Pulumi.there.yaml` names too."""
    login = "import sys; sys.exit('AADSTS700082: the refresh token has expired')"
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", login],
        "interactiveMode": "Never",
    }
    user = {"exec": plugin} if request.param == "expired-login" else {"token": "t"}
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
        "current-context": "c",
    }
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    stack = yaml.safe_load((ROOT / "Pulumi.existing.yaml").read_text())
    stack["config"]["aks-infiniband:existingCluster"]["kubeconfig"] = "./kubeconfig"
    (tmp_path / "Pulumi.there.yaml").write_text(yaml.safe_dump(stack))
    (tmp_path / "values").symlink_to(ROOT / "values")
    monkeypatch.chdir(tmp_path)
    return "has expired" if request.param == "expired-login" else "Connection refused"


@pytest.mark.parametrize("command", COMMANDS)
def test_where_the_cluster_gives_no_answer_standard_error_says_why(
    command: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"aks-infiniband {command.split(maxsplit=1)[0]}: ")
    assert said in err


def test_a_report_is_not_asked_for_where_there_is_no_such_kubeconfig_or_context(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for flags, why in (("--kubeconfig none", "none does not exist"), ("--kubeconfig kubeconfig --context d", "'d'")):
        assert main(f"report {flags} --out page".split()) == 2
        assert why in capsys.readouterr().err, said


@pytest.mark.parametrize("content", ["server: [", "a: b", None])
@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("validate --kubeconfig kubeconfig", "; --kubeconfig names it"),
        ("report --kubeconfig kubeconfig --out page", "; --kubeconfig names it"),
        ("doctor", "; KUBECONFIG names it; --kubeconfig can name another"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_told_with_what_named_it(
    command: str,
    hint: str,
    content: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text("that of another cluster")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", "kubeconfig")
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("kubeconfig").write_text(content)
    assert main(command.split()) == 2
    err = capsys.readouterr().err
    assert str(tmp_path / "kubeconfig") in err
    assert err.endswith(f"{hint}\n")


def test_a_stack_files_kubeconfig_is_told_by_its_setting(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("kubeconfig").write_text("server: [")
    assert main(["teardown", "-s", "there"]) == 2
    assert capsys.readouterr().err.count("existingCluster.kubeconfig") == 1, said
