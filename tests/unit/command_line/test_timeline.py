"""The timeline of an update: which chain of resources made it as long as it was."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report.timeline import NoTimelineError, from_engine, from_result, longest_chain, table
from aks_infiniband_cli.report.timeline_page import html

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


def test_the_chain_goes_back_from_the_last_end_to_what_was_waited_for_longest() -> None:
    chain = longest_chain(from_result(result(), state()))
    assert [(link.name, link.waited, link.seconds) for link in chain] == [
        ("azure-native default", True, 2),
        ("azure-native default", False, 0),
        ("ManagedCluster rdma", False, 270),
        ("AgentPool rdma-ndh100", False, 330),
        ("Job rdma-ndh100-validate", True, 30),
        ("Job rdma-ndh100-validate", False, 68),
    ]


def test_a_provider_that_the_engine_makes_late_waits_for_what_its_first_resource_waits_for() -> None:
    late, kept = f"{PREFIX}pulumi:providers:pulumi::default", f"{PREFIX}pulumi:index:Stash::evidence"
    made, stored = result(), state()
    made["resources"] += [
        {"urn": late, "start_s": 701, "end_s": 702, "status": "create"},
        {"urn": kept, "start_s": 702, "end_s": 703, "status": "create"},
    ]
    stored["deployment"]["resources"] += [
        {"urn": late, "custom": True},
        {"urn": kept, "custom": True, "provider": f"{late}::0000-id", "dependencies": [JOB]},
    ]
    names = [link.name for link in longest_chain(from_result(made, stored)) if not link.waited]
    assert names[-3:] == ["Job rdma-ndh100-validate", "pulumi default", "Stash evidence"]
    assert names[0] == "azure-native default"


def test_a_provider_does_not_wait_for_what_was_made_through_it_before() -> None:
    """The engine's times may be the same for a provider and for its first resources; no chain may go round then."""
    first, second = f"{PREFIX}random:index:Id::first", f"{PREFIX}random:index:Id::second"
    made, stored = result(), state()
    made["resources"] = [
        {"urn": urn, "start_s": 0, "end_s": 0, "status": "create"} for urn in (PROVIDER, first, second)
    ]
    stored["deployment"]["resources"] += [
        {"urn": first, "custom": True, "provider": f"{PROVIDER}::0000-id"},
        {"urn": second, "custom": True, "provider": f"{PROVIDER}::0000-id", "dependencies": [first]},
    ]
    waits_for = {span.urn: span.waits_for for span in from_result(made, stored)}
    assert waits_for == {PROVIDER: frozenset(), first: {PROVIDER}, second: {PROVIDER, first}}


def test_the_links_of_the_chain_add_up_to_the_whole_update() -> None:
    spans = from_result(result(), state())
    assert sum(link.seconds for link in longest_chain(spans)) == max(span.end for span in spans)


def test_the_engines_own_event_log_tells_the_same_from_its_first_operation_on() -> None:
    told = longest_chain(from_engine(event_log(), state()))
    assert [link.name for link in told if not link.waited] == [
        link.name for link in longest_chain(from_result(result(), state())) if not link.waited
    ]
    assert told[-1].end == 698


def test_what_did_not_change_is_no_part_of_it() -> None:
    spans = from_result(result(rdma="same"), state())
    assert "ManagedCluster rdma" not in {span.name for span in spans}


def test_the_table_has_the_longest_links_first_then_the_total_and_the_sum() -> None:
    lines = table(from_result(result(), state()), longest=2).splitlines()
    assert [line.split() for line in lines] == [
        ["0:05:30", "AgentPool", "rdma-ndh100"],
        ["0:04:30", "ManagedCluster", "rdma"],
        ["0:11:40", "in", "all"],
        ["0:11:36", "one", "after", "the", "other"],
    ]


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


def test_the_page_says_what_every_resource_waited_for_the_last_to_end_first() -> None:
    page, _ = html(from_result(result(), state()), "up")
    said = page.partition("What waited for what")[2]
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", said, re.DOTALL)]
    waited = {name: waits for *_, name, waits in rows}
    assert waited["azure-native default"] == "–"
    assert waited["ManagedCluster rdma"] == "azure-native default"
    assert waited["AgentPool rdma-ndh100"] == "ManagedCluster rdma", "and not also for what that one waited for"
    assert waited["Job rdma-ndh100-validate"] == "AgentPool rdma-ndh100, Release rdma-network-operator"


def test_the_events_of_a_preview_have_no_timeline() -> None:
    at_once = [json.dumps({**json.loads(line), "timestamp": 1}) for line in event_log()]
    with pytest.raises(NoTimelineError, match="takes no time"):
        from_engine(at_once, state())
