"""The timeline of an update: which chain of resources made it as long as it was."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.main import main

PREFIX = "urn:pulumi:dev::aks-infiniband::"
PROVIDER, CLUSTER, POOL, RELEASE, JOB, COMPONENT = (
    f"{PREFIX}{rest}"
    for rest in (
        "pulumi:providers:azure-native::default",
        "a:index:Aks$azure-native:containerservice:ManagedCluster::rdma",
        "a:index:Aks$azure-native:containerservice:AgentPool::rdma-ndh100",
        "kubernetes:helm.sh/v3:Release::rdma-network-operator",
        "kubernetes:batch/v1:Job::rdma-ndh100-validate",
        "a:index:Aks::rdma",
    )
)
TIMES = {
    PROVIDER: (2, 2),
    COMPONENT: (2, 500),
    CLUSTER: (2, 272),
    POOL: (272, 602),
    RELEASE: (272, 300),
    JOB: (632, 700),
}


def state() -> dict[str, Any]:
    def resource(urn: str, *dependencies: str, provider: bool = True) -> dict[str, Any]:
        by = {"provider": f"{PROVIDER}::0000-id"} if provider else {}
        return {"urn": urn, "custom": True, "dependencies": list(dependencies), **by}

    resources = [
        {"urn": COMPONENT, "custom": False},
        resource(PROVIDER, provider=False),
        resource(CLUSTER),
        resource(POOL, CLUSTER),
        resource(RELEASE, CLUSTER),
        resource(JOB, POOL, RELEASE),
    ]
    return {"version": 3, "deployment": {"resources": resources}}


def result(**statuses: str) -> dict[str, Any]:
    rows = [
        {"urn": urn, "start_s": start, "end_s": end, "status": statuses.get(urn.rsplit("::", 1)[-1], "create")}
        for urn, (start, end) in TIMES.items()
    ]
    return {"resources": rows}


def event_log() -> list[str]:
    lines = [{"sequence": 0, "timestamp": 1000, "preludeEvent": {}}]
    for urn, (start, end) in TIMES.items():
        metadata = {"metadata": {"urn": urn, "op": "create"}}
        lines += [
            {"timestamp": 1000 + start, "resourcePreEvent": metadata},
            {"timestamp": 1000 + end, "resOutputsEvent": metadata},
        ]
    return [json.dumps(line) for line in lines]


def test_the_command_makes_a_page_of_one_file_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "result.json").write_text(json.dumps(result()))
    (tmp_path / "state.json").write_text(json.dumps(state()))
    files = ["--result", str(tmp_path / "result.json"), "--state", str(tmp_path / "state.json")]
    assert main(["timeline", *files, "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "timeline.html").read_text()
    assert "<svg" in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "before Job rdma-ndh100-validate" in page
    assert (tmp_path / "out" / "timeline.png").read_bytes().startswith(b"\x89PNG")
    assert "AgentPool rdma-ndh100" in capsys.readouterr().out


def test_an_update_in_which_nothing_took_time_has_a_picture_too(tmp_path: Path) -> None:
    rows = [{**row, "start_s": 0, "end_s": 0} for row in result()["resources"]]
    (tmp_path / "result.json").write_text(json.dumps({"resources": rows}))
    (tmp_path / "state.json").write_text(json.dumps(state()))
    files = ["--result", str(tmp_path / "result.json"), "--state", str(tmp_path / "state.json")]
    with warnings.catch_warnings(action="error"):
        assert main(["timeline", *files, "--out", str(tmp_path / "out")]) == 0
