"""The pods of a validation: each reports, all wait for all, index 0 judges and leaves the report."""

import json
import threading
from typing import Any

import pytest
from aks_infiniband.validation.payload import await_nodes
from aks_infiniband.validation.payload.report.kept import evidence_of
from aks_infiniband.validation.payload.talk.boards import PLAN_ANNOTATION
from aks_infiniband.validation.payload.talk.config_maps import compressed
from aks_infiniband.validation.payload.talk.termination import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish, shorten

from tests.unit.validation.one_pod import entry, member, report_of


def test_two_pods_report_and_index_0_leaves_a_passing_report(fake: Any, run_pod: Any) -> None:
    other = threading.Thread(target=run_pod, args=(1, "n1"), kwargs={"timeout": 20})
    other.start()
    code, message = run_pod(0, "n0", timeout=20)
    other.join()

    assert (code, report_of(fake)["verdict"]) == (EXIT_DONE, "pass")
    line = evidence_of(report_of(fake))
    when = report_of(fake)["finished"]
    assert message == f"{line}\npool ndh100: pass on {when} (2 of 2 nodes, 16 of 16 HCAs)"
    facts, entries = {"node.n0.json.gz", "node.n1.json.gz"}, {"rank-0.json.gz", "rank-1.json.gz"}
    assert set(fake.config_maps["report"]) == {"report.json.gz", *facts, *entries}
    assert sorted(report_of(fake)["nodes"]) == ["n0", "n1"]
    assert (report_of(fake)["run"], report_of(fake)["mode"]) == ("uid-1", "enforce")


def test_a_node_that_does_not_report_in_time_fails_the_pool(fake: Any, run_pod: Any) -> None:
    code, message = run_pod(0, "n0")

    assert code == EXIT_VERDICT
    assert "nodes-reported: expected 2, measured 1 - only n0 reported in time" in message
    assert report_of(fake)["verdict"] == "fail"


def test_a_straggler_is_waited_for_after_the_report_has_named_it_absent(fake: Any, run_pod: Any, healthy: Any) -> None:
    verdicts = []

    def straggle(name: Any, data: Any) -> Any:
        if "report.json.gz" in data:
            verdicts.append(report_of(fake)["verdict"])
            fake.put("report", {"node.n1.json.gz": entry("n1", "uid-1", healthy())})
            fake.put("report", {"rank-1.json.gz": member("n1", "uid-1")})

    fake.on_patch = straggle
    code, _ = run_pod(0, "n0", linger=20)
    assert code == EXIT_DONE
    assert list(dict.fromkeys(verdicts)) == ["fail", "pass"]


def test_in_mode_warn_a_failure_is_reported_and_the_job_succeeds(fake: Any, run_pod: Any) -> None:
    code, message = run_pod(0, "n0", mode="warn")

    assert code == EXIT_DONE
    assert report_of(fake)["verdict"] == "fail"
    assert "nodes-reported" in message


def test_a_device_that_is_down_fails_the_pool_and_is_named(fake: Any, run_pod: Any, machine: Any, healthy: Any) -> None:
    (machine.sys / "class/infiniband/mlx5_ib6/ports/1/state").write_text("1: DOWN\n")
    fake.put("report", {"node.n1.json.gz": entry("n1", "uid-1", healthy())})
    fake.put("report", {"rank-1.json.gz": member("n1", "uid-1")})

    code, message = run_pod(0, "n0")
    assert code == EXIT_VERDICT
    assert "fail: hca-state on n0 (mlx5_ib6): expected ACTIVE, measured DOWN" in message


def test_entries_of_an_earlier_run_do_not_count_and_are_cleared(fake: Any, run_pod: Any, healthy: Any) -> None:
    old = {"node.n1.json.gz": entry("n1", "uid-0", healthy()), "node.gone.json.gz": "{}", "rank-7.json.gz": "{}"}
    of_version_0_2 = {"node.n0.json": "{}", "report.json": "{}"}
    fake.put("report", {**old, **of_version_0_2})
    code, _ = run_pod(0, "n0")

    assert code == EXIT_VERDICT
    assert report_of(fake)["coverage"]["nodes"]["looked_at"] == 1
    assert set(fake.config_maps["report"]) == {"node.n0.json.gz", "rank-0.json.gz", "report.json.gz"}


def test_an_unreadable_entry_is_as_good_as_none(fake: Any, run_pod: Any) -> None:
    fake.put("report", {"node.n1.json.gz": "{half", "node.n2.json": "{half"})
    fake.config_maps["report"]["node.n3.json.gz"] = "bm90IGd6aXA="  # not gzip
    assert run_pod(0, "n0")[0] == EXIT_VERDICT


def test_any_other_index_reports_its_node_and_judges_nothing(fake: Any, run_pod: Any, healthy: Any) -> None:
    fake.put("report", {"node.n0.json.gz": entry("n0", "uid-1", healthy())})
    plan = {"run": "uid-1", "id": "end", "step": {"end": True}, "members": {"n1": {"pod": "pod-1"}}}
    fake.annotations["report"] = {PLAN_ANNOTATION: compressed(json.dumps(plan))}
    code, message = run_pod(1, "n1")

    assert code == EXIT_DONE
    assert message == "node n1 has reported, and everything is measured; index 0 judges"
    assert "report.json.gz" not in fake.config_maps["report"]
    left = json.loads(fake.texts("report")["node.n1.json.gz"])
    assert (left["run"], left["facts"]["hcas"][0]["device"]) == ("uid-1", "mlx5_ib0")


def test_a_pod_restarted_half_way_comes_to_the_same_report(fake: Any, run_pod: Any, healthy: Any) -> None:
    fake.put("report", {"node.n1.json.gz": entry("n1", "uid-1", healthy())})
    fake.put("report", {"rank-1.json.gz": member("n1", "uid-1")})
    (code, _), before = run_pod(0, "n0"), report_of(fake)
    again, _ = run_pod(0, "n0")
    assert again == code
    assert {**report_of(fake), "finished": ""} == {**before, "finished": ""}


@pytest.mark.field_report("C6b")
def test_what_keeps_the_pod_from_working_is_said_and_tried_again(fake: Any, run_pod: Any) -> None:
    del fake.config_maps["report"]
    code, message = run_pod(0, "n0")

    assert code == EXIT_RETRY
    assert 'configmaps "report" not found' in message


def test_a_pod_outside_a_job_says_what_is_missing(run_pod: Any) -> None:
    code, message = run_pod("not a number", "n0")
    assert (code, "ValueError" in message) == (EXIT_RETRY, True)


def awaited(fake: Any, tmp_path: Any, *extra: Any) -> Any:
    log = tmp_path / "termination"
    arguments = "--pool ndh100 --selector agentpool=ndh100 --nodes 1 --poll-seconds 0.01 --stable-seconds 0.02"
    argv = [*arguments.split(), "--resource=rdma/shared_ib=1", "--termination-log", str(log), *extra]
    return await_nodes.main([*argv, "--api", fake.url], {}), log


def test_awaiting_nodes_ends_well_when_they_are_there(fake: Any, tmp_path: Any) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"rdma/shared_ib": "63"}}
    fake.nodes = [{"metadata": {"name": "n0", "labels": {"agentpool": "ndh100"}}, "status": ready}]

    code, log = awaited(fake, tmp_path, "--timeout-seconds", "10")
    assert code == EXIT_DONE
    assert log.read_text().startswith("pool ndh100: 1 of 1 nodes Ready, each with rdma/shared_ib at least 1")


def test_awaiting_nodes_leaves_the_limit_of_its_user(fake: Any, machine: Any, tmp_path: Any) -> None:
    limits = tmp_path / "limits.json"
    awaited(fake, tmp_path, "--timeout-seconds", "0.05", "--proc", str(machine.proc), "--limits", str(limits))
    assert json.loads(limits.read_text()) == {"memlock_bytes": 8388608}


def test_awaiting_nodes_in_vain_names_the_laggards(fake: Any, tmp_path: Any) -> None:
    fake.nodes = [{"metadata": {"name": "n0", "labels": {"agentpool": "ndh100"}}, "status": {}}]

    code, log = awaited(fake, tmp_path, "--timeout-seconds", "0.05")
    assert code == EXIT_VERDICT
    assert "node n0: not Ready (no Ready condition), rdma/shared_ib 0, expected at least 1" in log.read_text()


def test_a_message_is_cut_to_what_the_kubelet_keeps(tmp_path: Any) -> None:
    assert shorten("short") == "short"
    cut = shorten("ü" * 4000)
    assert len(cut.encode()) <= 4096
    assert cut.endswith("[…]")


def test_a_termination_log_that_cannot_be_written_does_not_change_the_outcome(tmp_path: Any, capsys: Any) -> None:
    assert finish(EXIT_VERDICT, "no", tmp_path / "missing" / "log") == EXIT_VERDICT
    assert capsys.readouterr().out == "no\n"
