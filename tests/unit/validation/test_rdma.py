"""A pool is measured in a ring, what falls short again, and every failure names node, device and cause."""

from collections.abc import Callable
from typing import Any

import pytest
from aks_infiniband.validation.payload.rdma.judge import judge_coverage, judge_rdma
from aks_infiniband.validation.payload.rdma.measured import Measured, rows
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.rdma.run import measure
from aks_infiniband.validation.payload.rdma.tasks import Task
from aks_infiniband.validation.payload.say.checks import is_problem
from aks_infiniband.validation.payload.talk.time_left import Time

from tests.unit.validation.fabric import GOOD, Fabric, bad_ones


def slow(end: End, figure: str = "rdma-write-bandwidth", value: float = 187.0) -> Callable[[Task, int], Any]:
    return lambda task, attempt: {figure: value} if end in task.pair and figure in GOOD[task.kind] else None


def test_a_sound_pool_has_one_passing_check_for_each_figure_with_its_threshold(thresholds: Any) -> None:
    measured, checks = Fabric(4, 8).judge(thresholds)
    assert [check["check"] for check in checks] == [
        "rdma-read-latency",
        "rdma-ping-pong-latency",
        "rdma-ping-pong-throughput",
        "rdma-write-bandwidth",
        "rdma-read-bandwidth",
    ]
    assert {check["verdict"] for check in checks} == {"pass"}
    write = next(check for check in checks if check["check"] == "rdma-write-bandwidth")
    assert (write["measured"], write["unit"], write["expected"]) == ("393.1", "Gb/s", "at least 360 Gb/s (quoted)")
    assert write["threshold"]["basis"] == "quoted"
    assert len(rows(measured)) == 4 * 8 * 5


@pytest.mark.field_report("C6")
def test_a_slow_hca_is_named_and_its_peers_are_not(thresholds: Any) -> None:
    fabric = Fabric(4, 2)
    fabric.wrong = slow(End("n2", "ib1"))
    _, checks = fabric.judge(thresholds)
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert (check["check"], check["node"], check["device"]) == ("rdma-write-bandwidth", "n2", "ib1")
    assert check["measured"] == 187.0
    assert check["tries"] == [{"value": 187.0, "error": None}] * 3
    assert "it falls short with n1 and n3" in str(check["cause"])


def test_of_two_nodes_the_slow_hca_is_found_by_measuring_it_with_another_one(thresholds: Any) -> None:
    fabric = Fabric(2, 4)
    fabric.wrong = slow(End("n1", "ib3"))
    _, checks = fabric.judge(thresholds)
    assert bad_ones(checks) == [("fail", "rdma-write-bandwidth", "n1", "ib3")]


def test_a_good_hca_that_fails_once_in_the_measurement_that_was_to_clear_it_is_not_named(thresholds: Any) -> None:
    """As on a busy machine, on which a tool takes longer than it may."""
    fabric = Fabric(2, 2)
    lost, good = End("n1", "ib1"), End("n0", "ib1")
    failed_before: set[str] = set()

    def wrong(task: Task, attempt: int) -> Any:
        if lost in task.pair:
            return "ib_read_lat ended with code 17: Completion with error at client; Failed status 12"
        if good in task.pair and f"{task}" not in failed_before:
            failed_before.add(f"{task}")
            return "ib_read_lat did not end within 10 s and was killed"
        return None

    fabric.wrong = wrong
    _, checks = fabric.judge(thresholds, tries=2)
    named = {(check["node"], check["device"]) for check in checks if check["verdict"] == "fail"}
    assert named == {("n1", "ib1")}


def test_of_two_nodes_with_one_hca_both_are_named_because_nothing_tells_them_apart(thresholds: Any) -> None:
    fabric = Fabric(2, 1)
    fabric.wrong = slow(End("n1", "ib0"))
    _, checks = fabric.judge(thresholds)
    assert bad_ones(checks) == [
        ("fail", "rdma-write-bandwidth", "n0", "ib0"),
        ("fail", "rdma-write-bandwidth", "n1", "ib0"),
    ]
    assert "no third HCA has told them apart" in checks[-2]["cause"] + checks[-3]["cause"]


@pytest.mark.parametrize(
    ("nodes", "bad"),
    [
        (4, ("n0", "n1")),
        (4, ("n1", "n2")),
        (4, ("n0", "n3")),
        (4, ("n0", "n2")),
        (4, ("n1", "n3")),
        (5, ("n0", "n2", "n3")),
        (6, ("n1", "n2", "n4", "n5")),
    ],
)
@pytest.mark.parametrize("hcas", [1, 2])
def test_bad_machines_of_a_pool_are_named_wherever_they_sit_and_nothing_doubts_them(
    thresholds: Any, nodes: int, bad: tuple[str, ...], hcas: int
) -> None:
    """In the ring of four with n0 and n2 every pair has a bad end."""
    fabric = Fabric(nodes, hcas)
    ends = {End(node, "ib0") for node in bad}
    fabric.wrong = lambda task, attempt: (
        {"rdma-write-bandwidth": 187.0} if ends & {*task.pair} and task.kind == "write-bandwidth" else None
    )
    _, checks = fabric.judge(thresholds)
    failed = [check for check in checks if check["verdict"] == "fail"]
    assert sorted({(check["node"], check["device"]) for check in failed}) == [(node, "ib0") for node in bad]
    assert not [check for check in failed if "told them apart" in str(check["cause"])]


def test_a_pool_in_which_every_machine_is_slow_blames_none_after_wider_pairs_too(thresholds: Any) -> None:
    fabric = Fabric(8, 1)
    fabric.wrong = lambda task, attempt: {"rdma-write-bandwidth": 187.0} if task.kind == "write-bandwidth" else None
    _, checks = fabric.judge(thresholds)
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert (check["check"], check["node"]) == ("rdma-write-bandwidth", None)


def test_a_link_with_half_its_lanes_is_said_to_be_one(thresholds: Any) -> None:
    fabric = Fabric(3, 2)
    fabric.wrong = slow(End("n0", "ib0"), value=196.0)
    hcas = [{"device": "ib0", "rate_gbps": 200.0}, {"device": "ib1", "rate_gbps": 400.0}]
    _, checks = fabric.judge(thresholds, facts={"n0": {"hcas": hcas}})
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert "its link runs at 200 Gb/s, the node's others at 400" in str(check["cause"])


def test_where_everything_falls_short_no_machine_is_blamed(thresholds: Any) -> None:
    fabric = Fabric(3, 2)
    fabric.wrong = lambda task, attempt: {"rdma-read-bandwidth": 90.0} if task.kind == "read-bandwidth" else None
    _, checks = fabric.judge(thresholds)
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert (check["check"], check["node"], check["measured"]) == ("rdma-read-bandwidth", None, "90")
    assert "no one machine's" in str(check["cause"])


@pytest.mark.field_report("C6b")
def test_what_passes_at_a_later_try_is_a_warning_that_shows_every_try(thresholds: Any) -> None:
    fabric = Fabric(2, 1)
    fabric.wrong = lambda task, attempt: (
        {"rdma-read-latency": 11.0 + attempt} if task.kind == "read-latency" and attempt < 3 else None
    )
    _, checks = fabric.judge(thresholds)
    warned = [check for check in checks if check["verdict"] == "warn"]
    assert {check["check"] for check in warned} == {"rdma-read-latency"}
    assert [attempt["value"] for attempt in warned[0]["tries"]] == [12.0, 13.0, 5.5]
    assert "it took 3 tries" in warned[0]["cause"]
    assert not [check for check in checks if check["verdict"] == "fail"]


def test_a_single_try_is_made_where_only_one_is_asked_for(thresholds: Any) -> None:
    fabric = Fabric(3, 1)
    fabric.wrong = slow(End("n1", "ib0"))
    _, checks = fabric.judge(thresholds, tries=1)
    (check,) = [check for check in checks if check["verdict"] == "fail"]
    assert len(check["tries"]) == 1


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("ib_write_bw ended with code 1: Couldn't allocate MR", "IPC_LOCK"),
        ("ib_write_bw ended with code 1: scnt=128, ccnt=0; Completion with error", "packets do not arrive"),
        ("ib_write_bw did not end within 60 s and was killed", "hung without a word"),
        ("ib_write_bw ended with code 1: IB device mlx5_ib9 not found", "does not find the HCA"),
    ],
)
def test_an_error_of_a_tool_is_a_failure_with_a_likely_cause(thresholds: Any, error: str, cause: str) -> None:
    fabric = Fabric(3, 1)
    broken = End("n1", "ib0")
    fabric.wrong = lambda task, attempt: error if task.kind == "write-bandwidth" and broken in task.pair else None
    _, checks = fabric.judge(thresholds)
    failed = [check for check in checks if check["verdict"] == "fail"]
    assert {check["check"] for check in failed} == {"rdma-write-bandwidth"}
    assert error in failed[0]["cause"]
    assert cause in failed[0]["cause"]


def test_a_tool_that_hangs_is_tried_once_more_and_not_twice(thresholds: Any) -> None:
    fabric = Fabric(2, 1)
    fabric.wrong = lambda task, attempt: (
        "ib_write_bw did not end within 60 s and was killed" if task.kind == "write-bandwidth" else None
    )
    fabric.judge(thresholds)
    assert {count for (kind, _), count in fabric.asked.items() if kind == "write-bandwidth"} == {2}


def test_a_tool_that_the_image_lacks_leaves_the_figure_not_measured_with_a_cause(thresholds: Any) -> None:
    fabric = Fabric(2, 1)
    fabric.wrong = lambda task, attempt: f"{task.kind} could not be started: No such file or directory"
    _, checks = fabric.judge(thresholds)
    assert {check["verdict"] for check in checks} == {"not measured"}
    assert all("the image lacks the tool" in str(check["cause"]) for check in checks)


def test_a_node_that_never_answers_is_named(thresholds: Any) -> None:
    fabric = Fabric(4, 1)
    silent = fabric.do
    measured = measure(
        lambda step: {node: answer for node, answer in silent(step).items() if node != "n2"},
        fabric.rails,
        thresholds,
        tries=1,
    )
    failed = [check for check in judge_rdma(measured, thresholds, {}) if check["verdict"] == "fail"]
    assert {check["node"] for check in failed} <= {"n2", "n3", None}
    assert all("did not answer in time" in str(check["cause"]) for check in failed)


@pytest.mark.field_report("C4")
def test_without_a_threshold_a_figure_is_measured_and_not_judged() -> None:
    _, checks = Fabric(2, 1).judge({})
    assert {check["verdict"] for check in checks} == {"not judged"}


def test_a_value_between_the_two_limits_warns(thresholds: Any) -> None:
    given = {**thresholds, "rdma-write-bandwidth": {**thresholds["rdma-write-bandwidth"], "warn": 395.0}}
    _, checks = Fabric(2, 1).judge(given)
    assert {check["check"] for check in checks if check["verdict"] == "warn"} == {"rdma-write-bandwidth"}


def test_an_hca_far_from_all_others_is_an_outlier_though_above_the_limit(thresholds: Any) -> None:
    fabric = Fabric(8, 1)
    numbers = {f"n{number}": 393.0 + number / 10 for number in range(8)}

    def spread(task: Task, attempt: int) -> Any:
        value = 381.0 if End("n5", "ib0") in task.pair else numbers[task.pair.client.node]
        return {"rdma-write-bandwidth": value} if task.kind == "write-bandwidth" else None

    fabric.wrong = spread
    _, checks = fabric.judge(thresholds)
    assert ("warn", "rdma-write-bandwidth", "n5", "ib0") in bad_ones(checks)


@pytest.mark.field_report("R5")
def test_an_hca_that_is_in_no_pair_fails_the_coverage_by_name(thresholds: Any) -> None:
    fabric = Fabric(3, 2)
    seen: Any = {node: {"hcas": [{"device": device} for device in rails]} for node, rails in fabric.rails.items()}
    measured, _ = fabric.judge(thresholds)
    assert judge_coverage(measured, seen)["verdict"] == "pass"
    seen["n1"]["hcas"].append({"device": "ib8"})
    check = judge_coverage(measured, seen)
    assert (check["verdict"], check["expected"], check["measured"]) == ("fail", 7, 6)
    assert "n1 (ib8): in no pair" in str(check["cause"])
    nothing = judge_coverage(Measured(thresholds, {}), seen)
    assert (nothing["verdict"], is_problem(nothing)) == ("not measured", True)


def test_when_time_is_up_what_is_left_is_not_measured(thresholds: Any) -> None:
    fabric = Fabric(2, 1)
    done: list[Any] = []

    def do(step: Any) -> Any:
        done.append(step)
        return fabric.do(step)

    measured = measure(do, fabric.rails, thresholds, tries=3, time=Time(lambda: 1 - len(done), lambda tool_seconds: 0))
    verdicts = {check["check"]: check["verdict"] for check in judge_rdma(measured, thresholds, {})}
    assert verdicts["rdma-read-latency"] == "pass"
    assert verdicts["rdma-read-bandwidth"] == "not measured"
