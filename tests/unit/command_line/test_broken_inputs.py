"""Whatever a command is given, what is wrong is one sentence: what was read, the place, the value, what is allowed.

No traceback, and no word of a defect of the program itself: that would be for unforeseen errors.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband_cli.main import main

from tests.unit.command_line.loopback import certified, serving
from tests.unit.command_line.test_report_page import report, state

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


def broken(change: Callable[[dict[str, Any]], object]) -> str:
    """The state of a stack whose report was changed."""
    document = report(networks=[])
    change(document)
    return state(document)


REPORTS: dict[str, tuple[str, str]] = {
    "no JSON": ("not json", "line 1"),
    "no text": ("\udcff\udcfe", "UTF-8"),
    "nested deeply": (DEEP, "nested more than"),
    "a number that is none": ('{"deployment": NaN}', "deployment is nan"),
    "a list": ("[1]", "must be a mapping"),
    "one key": ('{"deployment": {"resources": 3}}', "deployment.resources is 3; must be a list"),
    "a resource that is a number": ('{"deployment": {"resources": [3]}}', "deployment.resources[0] is 3"),
    "numbers for checks": (broken(lambda r: r.update(checks=[1, 2])), "checks[0] is 1; must be a mapping"),
    "checks that are a number": (broken(lambda r: r.update(checks=5)), "checks is 5; must be a list"),
    "a verdict of another world": (
        broken(lambda r: r["checks"][0].update(verdict="fine")),
        "checks[0].verdict is 'fine'",
    ),
    "a check without cause": (broken(lambda r: r["checks"][0].pop("cause")), "checks[0].cause is missing"),
    "a row without node": (broken(lambda r: r["rdma"][3].pop("node")), "rdma[3].node is missing"),
    "a row that is text": (broken(lambda r: r["rdma"].__setitem__(0, "x")), "rdma[0] is 'x'"),
    "a value that is text": (broken(lambda r: r["rdma"][0].update(value="fast")), "rdma[0].value is 'fast'"),
    "a collective without sizes": (
        broken(lambda r: r["collective"]["runs"][0].pop("sizes")),
        "collective.runs[0].sizes is missing",
    ),
    "a size below zero": (
        broken(lambda r: r["collective"]["runs"][0]["sizes"][0].update(bytes=-1)),
        "collective.runs[0].sizes[0].bytes is -1",
    ),
    "a pool that is a number": (broken(lambda r: r.update(pool=7)), "pool is 7"),
    "no thresholds": (broken(lambda r: r.pop("thresholds")), "thresholds is missing"),
    "a threshold that is a list": (broken(lambda r: r.update(thresholds={"x": [1]})), "thresholds.x is [1]"),
}


@pytest.mark.parametrize("case", REPORTS)
def test_a_report_of_another_form_is_refused_with_the_place(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, said = REPORTS[case]
    file = tmp_path / "state.json"
    file.write_bytes(text.encode(errors="surrogateescape"))
    err = refused(f"report --state {file} --out {tmp_path}", capsys)
    assert err.startswith(f"aks-infiniband report: {file}")
    assert said in err


UP = {"urn": "urn:pulumi:dev::p::a:b:C::name", "status": "create", "start_s": 0, "end_s": 1}
EVENT = {"timestamp": 1, "resourcePreEvent": {"metadata": {"urn": "urn:p::d::C::n", "op": "create"}}}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**UP, "end_s": 1e308}, "resources[0].end_s is 1e+308; must be less than or equal to 100000000"),
        ({**UP, "start_s": -1}, "resources[0].start_s is -1"),
        ({**UP, "start_s": 2}, "must not end before it starts"),
        ({**UP, "end_s": "1"}, "resources[0].end_s is '1'; must be a number"),
        ({**UP, "urn": "name"}, "resources[0].urn is 'name'"),
        ({**UP, "status": None}, "resources[0].status is None"),
        (3, "resources[0] is 3"),
    ],
)
def test_a_result_of_another_form_is_refused_with_the_place(
    row: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state.json").write_text('{"deployment": {}}')
    file = tmp_path / "result.json"
    file.write_text(json.dumps({"resources": [row]}))
    err = refused(f"timeline --result {file} --state {tmp_path}/state.json --out {tmp_path}", capsys)
    assert f"{file}: " in err
    assert said in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**EVENT, "timestamp": 1e308}, "line 2: timestamp is 1e+308"),
        ({**EVENT, "timestamp": None}, "line 2: timestamp is None"),
        ({**EVENT, "resourcePreEvent": 3}, "line 2: resourcePreEvent is 3"),
        ({**EVENT, "resourcePreEvent": {"metadata": {"op": "create"}}}, "resourcePreEvent.metadata.urn is missing"),
        ([], "line 2: is []; must be a mapping"),
        ("half an event", "line 2: is 'half an event'"),
    ],
)
def test_an_event_of_another_form_is_refused_with_its_line(
    line: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state.json").write_text('{"deployment": {}}')
    file = tmp_path / "up.jsonl"
    file.write_text(f"{json.dumps(EVENT)}\n{json.dumps(line)}\n")
    err = refused(f"timeline --events {file} --state {tmp_path}/state.json --out {tmp_path}", capsys)
    assert f"{file}: " in err
    assert said in err


KUBECONFIG: dict[str, Any] = {
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "current-context": "c",
}


@pytest.mark.parametrize("command", ["doctor", "validate", "rollout", "report --out x"])
@pytest.mark.parametrize("path", ["~nosuchuser/config", "/nowhere/config", "/tmp/a\0b", "/dev/null", "/"])
def test_a_kubeconfig_that_is_nowhere_is_said_with_what_named_it(
    command: str, path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    err = refused(f"{command} --kubeconfig {path}", capsys)
    assert "does not exist" in err
    assert err.endswith("--kubeconfig names it\n")
    if "report" not in command and "\0" not in path:
        monkeypatch.setenv("KUBECONFIG", path)
        assert refused(command, capsys).endswith("KUBECONFIG names it; --kubeconfig can name another\n")


@pytest.mark.parametrize(
    ("earlier", "said"),
    [
        (b"\x7fELF\x02\xff", "UTF-8"),
        (DEEP.encode(), "nested more than"),
        (b"{}", "pools is missing"),
        (b'{"pools": {"p": 3}}', "pools.p is 3; must be a mapping"),
        (b'{"pools": {"p": {"report": {"pool": "p"}}}}', "pools.p.finished is missing"),
        (b'{"checks": 5, "pool": "p", "finished": "now", "thresholds": {}}', "checks is 5; must be a list"),
        (b'{"checks": [], "pool": "p", "finished": "now", "values": {"x": "fast"}}', "values.x is 'fast'"),
        (b"NaN", "is nan"),
    ],
)
def test_an_earlier_report_of_another_form_is_refused_before_the_cluster_is_asked(
    earlier: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(KUBECONFIG))
    (tmp_path / "earlier").write_bytes(earlier)
    err = refused(f"validate --kubeconfig {tmp_path}/kubeconfig --against {tmp_path}/earlier", capsys)
    assert err.startswith("aks-infiniband validate: the earlier report cannot be read: ")
    assert said in err


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("runtime: python", "name is missing"),
        ("- a\n- list", "must be a mapping"),
        ("name: [x]", "name is ['x']"),
        ("name: ''", "name is ''"),
        ("name: {", "is not YAML"),
        ("", "is None"),
    ],
)
@pytest.mark.parametrize("command", ["teardown -s dev", "preflight -s dev", "init --explain Pulumi.dev.yaml"])
def test_a_project_file_that_is_none_is_refused_with_its_name(
    command: str, project: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values").symlink_to(ROOT / "values")
    (tmp_path / "Pulumi.dev.yaml").write_text((ROOT / "Pulumi.dev.yaml").read_text())
    (tmp_path / "Pulumi.yaml").write_text(project)
    err = refused(command, capsys)
    assert str(tmp_path / "Pulumi.yaml") in err
    assert said in err


@pytest.mark.parametrize(
    ("stack", "said"),
    [
        ("", "does not have a configuration"),
        ("config: {}", "does not have a configuration"),
        ("config:", "does not have a configuration"),
        ("config: 3", "config must be a mapping"),
        ("- a", "must be a mapping"),
        ("config: [", "is not YAML"),
        (None, "No such file"),
    ],
)
@pytest.mark.parametrize("command", ["teardown -s x", "preflight -s x", "init --explain Pulumi.x.yaml"])
def test_a_stack_file_without_a_configuration_is_refused_with_its_name(
    command: str, stack: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    if stack is not None:
        (tmp_path / "Pulumi.x.yaml").write_text(stack)
    err = refused(command, capsys)
    assert "Pulumi.x.yaml" in err
    assert said in err


@pytest.mark.parametrize(
    "flags",
    [
        *("--subscription prod", "--subscription ../x", "--endpoint management.azure.com", "--endpoint ftp://x"),
        *("--endpoint http://[", "--endpoint https://x:99999", "--stack ../x"),
    ],
)
@pytest.mark.parametrize("command", ["teardown", "preflight"])
def test_a_flag_that_names_nothing_is_told_in_a_line(
    command: str, flags: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("aks_infiniband_cli.preflight.all_checks.charts", lambda *_: [])
    monkeypatch.setattr("aks_infiniband_cli.preflight.all_checks.images", lambda *_: [])
    with suppress(SystemExit):  # argparse reports a value that no flag can have
        assert main(f"{command} -s dev {flags}".split()) == 2
    (told,) = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("usage:", " "))]
    assert flags.split()[1] in told
    assert len(told) < 400


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
