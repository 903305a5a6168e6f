"""The next action of `aks-infiniband replace`, from the known facts on a machine and the current ones."""

from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband_cli.azure.answers import Progress
from aks_infiniband_cli.bad_machines.replace.case import STAGES, Case, Farthest, Stage, case_of, document_of
from aks_infiniband_cli.bad_machines.replace.decision import next_step, refusal
from aks_infiniband_cli.bad_machines.replace.step import Budget, Seen

OTHERS = ("b", "c", "d")
WHOLE = Seen(boot="1", healthy=OTHERS, idle=OTHERS, count=16)
DOWN: dict[str, Any] = {"serves": False, "lacks": ["not Ready"]}
ACCEPTED = {"asked": "t", "accepted": "t"}
ONE, A_DAY = Budget(at_once=1, a_day=3), 0


def case(stage: Stage = "quarantine", **known: Any) -> Case:
    return Case(id="i", node="a", pool="hb", resource="/x", agent_pool="hb", begun="t", why="w", stage=stage, **known)


def act(known: Case, **seen: Any) -> tuple[str, str | None]:
    step = next_step(known, replace(WHOLE, **seen))
    return step.act, step.outcome or step.stage


EVERY: tuple[tuple[Stage, dict[str, Any], dict[str, Any]], ...] = tuple(
    (stage, known, seen)
    for stage in STAGES
    if stage != "over"
    for known in ({"boot": "1"}, {"boot": "1", "asked": "t"}, {"boot": "1", **ACCEPTED}, {"boot": "1", "bad": ["slow"]})
    for seen in ({}, {"boot": "2"}, DOWN, {"operation": "failed", **DOWN}, {"minutes": 46}, {"there": False})
)
"""Cases at every stage, and what may be seen of each."""


@pytest.mark.parametrize(("stage", "known", "seen"), EVERY)
def test_what_an_event_says_never_leads_to_more_than_would_be_done_without_it(
    stage: Stage, known: dict[str, Any], seen: dict[str, Any]
) -> None:
    without, told = act(case(stage, **known), **seen), act(case(stage, **known), **seen, azure="an Event says so")
    assert told == without or told[0] == "wait"


@pytest.mark.parametrize(("stage", "known", "seen"), EVERY)
def test_nothing_is_done_to_a_machine_of_which_case_and_cluster_say_different_things(
    stage: Stage, known: dict[str, Any], seen: dict[str, Any]
) -> None:
    assert act(case(stage, **known), **seen, differs="node a says machine /y") == ("stop", None)


@pytest.mark.parametrize(
    ("stage", "known", "seen", "expected"),
    [
        ("quarantine", {}, {}, ("quarantine", "empty")),
        ("empty", {}, {"busy": "pod x"}, ("wait", None)),
        ("empty", {"drain": "evict"}, {"busy": "pod x"}, ("drain", None)),
        ("empty", {}, {"others": "pod y"}, ("drain", None)),
        ("empty", {}, {"others": "pod y", "alone": "pod y"}, ("wait", None)),
        ("empty", {"drain": "evict"}, {"others": "pod y", "alone": "pod y"}, ("drain", None)),
        ("empty", {}, {}, ("go on", "evidence")),
        ("evidence", {}, {}, ("keep evidence", "restart")),
        ("restart", {"boot": "1"}, {}, ("restart", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "running"}, ("wait", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2", "lacks": ["no driver"]}, ("wait", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2", "lacks": ["7 GPUs"], "settled": 9}, ("wait", None)),
        (
            "restart",
            {"boot": "1", "asked": "t"},
            {"boot": "2", "lacks": ["7 GPUs"], "settled": 11},
            ("count", None),
        ),
        ("restart", {"boot": "1", "asked": "t", "bad": ["7 of 8 GPUs"]}, {"boot": "2"}, ("go on", "redeploy")),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2", "settled": 11}, ("measure", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2"}, ("measure", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2", "idle": ["b"]}, ("wait", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"boot": "2", "busy": "a Job that was killed"}, ("wait", None)),
        ("restart", {"boot": "1", "asked": "t", "bad": []}, {"boot": "2"}, ("let in", "cured")),
        ("restart", {"boot": "1", "asked": "t", "bad": ["slow"]}, {"boot": "2"}, ("go on", "redeploy")),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "refused"}, ("measure", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "failed"}, ("measure", None)),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "failed", **DOWN}, ("go on", "redeploy")),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "refused", **DOWN}, ("end", "not decided")),
        ("restart", {"boot": "1", "asked": "t"}, {"operation": "refused", "lacks": ["7 GPUs"]}, ("count", None)),
        ("restart", {"boot": "1", **ACCEPTED}, {"operation": "running", "minutes": 46}, ("end", "not decided")),
        ("restart", {"boot": "1", **ACCEPTED}, {"operation": "unread", "minutes": 44}, ("wait", None)),
        ("restart", {"boot": "1", **ACCEPTED}, {"operation": "unread", "minutes": 46}, ("end", "not decided")),
        ("restart", {"boot": "1", **ACCEPTED}, {"operation": "unread", "boot": "2"}, ("measure", None)),
        ("restart", {"boot": "1", **ACCEPTED}, {"operation": "none"}, ("wait", None)),
        ("restart", {"boot": "1", **ACCEPTED}, {"boot": "2", "minutes": 46, **DOWN}, ("end", "not decided")),
        ("restart", {"boot": "1", **ACCEPTED}, {"boot": "2", "minutes": 46, "busy": "x"}, ("end", "not decided")),
        ("empty", {"drain": "evict"}, {"busy": "pod x", "minutes": 46}, ("end", "not decided")),
        ("restart", {"boot": "1", "asked": "t", "tries": 3}, {"boot": "2"}, ("end", "not decided")),
        ("redeploy", {"boot": "2"}, {"boot": "2"}, ("redeploy", None)),
        ("redeploy", {"boot": "2", "asked": "t", "bad": []}, {"boot": "3"}, ("let in", "cured")),
        ("redeploy", {"boot": "2", "asked": "t", "bad": ["slow"]}, {"boot": "3"}, ("go on", "delete")),
        ("redeploy", {"boot": "2", "asked": "t"}, {"boot": "2", "operation": "failed", **DOWN}, ("go on", "delete")),
        ("redeploy", {"boot": "2", "asked": "t"}, {"boot": "2", "operation": "failed"}, ("measure", None)),
        ("redeploy", {"boot": "2", **ACCEPTED}, {"boot": "3", "minutes": 46, **DOWN}, ("end", "not decided")),
        ("delete", ACCEPTED, {"operation": "unread"}, ("wait", None)),
        ("delete", ACCEPTED, {"operation": "none"}, ("wait", None)),
        ("delete", {}, {}, ("delete", None)),
        ("delete", {}, {"given_up": "b"}, ("wait", None)),
        ("delete", {"asked": "t"}, {"operation": "running"}, ("wait", None)),
        ("delete", {"asked": "t"}, {"operation": "failed"}, ("end", "still bad")),
        ("delete", {"asked": "t"}, {"operation": "running", "minutes": 46}, ("end", "still bad")),
        ("delete", {"asked": "t"}, {"operation": "none", "minutes": 46}, ("end", "still bad")),
        ("delete", {"asked": "t"}, {"machine": False}, ("wait", None)),
        ("delete", {"asked": "t"}, {"machine": False, "there": False}, ("go on", "refill")),
        ("refill", {"count": 16}, {"count": 15}, ("refill", None)),
        ("refill", {"count": 16}, {"count": 16, "operation": "running"}, ("wait", None)),
        ("refill", {"count": 16}, {"count": 16}, ("wait", None)),
        ("refill", {"count": 16}, {"count": 16, "gave_up": True}, ("refill", None)),
        ("refill", {"count": 16, **ACCEPTED}, {"count": 15}, ("wait", None)),
        ("refill", {"count": 16, **ACCEPTED}, {"count": 15, "gave_up": True}, ("refill", None)),
        ("refill", {"count": 16}, {"count": 15, "operation": "failed", "failure": "AllocationFailed"}, ("stop", None)),
        ("refill", {"count": 16}, {"count": 16, "newcomers": ["n"]}, ("take in hand", "arrive")),
        ("arrive", {"new": "n"}, {"lacks": ["no driver"]}, ("wait", None)),
        ("arrive", {"new": "n"}, {"minutes": 46, **DOWN}, ("end", "not decided")),
        ("arrive", {"new": "n"}, {"lacks": ["7 GPUs"], "minutes": 46}, ("count", None)),
        ("refill", {"count": 16}, {"count": 15, "operation": "unread"}, ("wait", None)),
        ("arrive", {"new": "n"}, {}, ("measure", None)),
        ("arrive", {"new": "n", "bad": []}, {}, ("let in", "replaced")),
        ("arrive", {"new": "n", "bad": ["slow"]}, {}, ("end", "still bad")),
        ("arrive", {"new": "n"}, {"there": False}, ("go on", "refill")),
    ],
)
def test_what_comes_next(stage: Stage, known: dict[str, Any], seen: dict[str, Any], expected: tuple[str, str]) -> None:
    assert act(case(stage, **known), **seen) == expected


@pytest.mark.parametrize("stage", ["restart", "redeploy", "delete"])
def test_what_azure_does_by_itself_is_waited_for(stage: Stage) -> None:
    found = next_step(case(stage), replace(WHOLE, azure="AKS repairs it by itself"))
    assert (found.act, found.why) == ("wait", "AKS repairs it by itself")


def test_an_event_that_follows_from_the_commands_own_request_is_not_waited_for() -> None:
    assert act(case("restart", boot="1", asked="t"), boot="2", azure="RebootScheduled") == ("measure", None)


def test_a_machine_is_not_given_up_while_the_pool_would_have_no_healthy_pair() -> None:
    assert act(case("delete"), healthy=["b"]) == ("wait", None)


def test_a_machine_of_an_autoscaled_pool_is_not_given_up() -> None:
    found = next_step(case("delete"), replace(WHOLE, autoscaled=True))
    assert (found.act, found.outcome) == ("end", "still bad")
    assert "brings no deleted machine back" in found.why


@pytest.mark.parametrize("farthest", ["restart", "redeploy"])
def test_no_more_is_done_than_was_asked_for(farthest: Farthest) -> None:
    found = next_step(case(farthest, asked="t", bad=["slow"], farthest=farthest), replace(WHOLE, boot="9"))
    assert (found.act, found.outcome) == ("end", "still bad")
    assert "slow" in found.why


@pytest.mark.parametrize(
    ("operation", "failure", "cause"),
    [
        ("failed", "AllocationFailed: no room", "Azure lacks capacity for the size in this region"),
        ("failed", "OverconstrainedAllocationRequest: no room", "none that meet every constraint at once"),
        ("failed", "ZonalAllocationFailed: no room", "Azure lacks capacity for the size in this zone"),
        ("refused", "QuotaExceeded: exceeding approved x quota", "the family's vCPU quota in this region is too small"),
        ("refused", "OperationNotAllowed: exceeding approved x Cores quota", "the family's vCPU quota"),
    ],
)
def test_a_pool_without_capacity_or_quota_is_told_with_the_cause_and_azures_words_and_the_case_stays_open(
    operation: Progress, failure: str, cause: str
) -> None:
    found = next_step(case("refill", count=16), replace(WHOLE, count=15, operation=operation, failure=failure))
    assert (found.act, found.stage, found.outcome) == ("stop", None, None)
    assert found.why.startswith("pool hb has 15 of 16 machines: ")
    assert cause in found.why
    assert found.why.endswith(f"Azure says: {failure}")


def test_words_of_azure_that_no_table_has_are_told_as_they_are() -> None:
    found = next_step(case("refill", count=16), replace(WHOLE, count=15, operation="failed", failure="Odd: no"))
    assert found.why == "pool hb has 15 of 16 machines: Odd: no"


@pytest.mark.parametrize("stage", ["restart", "delete"])
def test_what_azure_has_refused_until_the_limit_is_told(stage: Stage) -> None:
    busy = "OperationNotAllowed: Another operation is in progress"
    found = next_step(case(stage, boot="1", asked="t"), replace(WHOLE, minutes=46, failure=busy))
    assert found.act in ("measure", "end")
    assert busy in found.why


def test_whoever_went_away_after_asking_leaves_it_to_the_next_to_ask_again_unless_it_shows() -> None:
    known = case("restart", boot="1", asked="t")
    assert act(known, operation="none") == ("restart", None)
    assert act(known, operation="none", boot="2") == ("measure", None)
    assert act(case("delete", asked="t"), operation="none") == ("delete", None)


def test_a_node_that_somebody_else_has_deleted_ends_the_case_and_no_other_is_taken_for_its_successor() -> None:
    assert act(case("restart"), there=False, newcomers=["b"]) == ("end", "not decided")


def test_a_stopped_case_does_nothing_more() -> None:
    assert act(case("delete", stopped=True)) == ("stop", None)


@pytest.mark.parametrize(
    ("seen", "others", "begun", "said"),
    [
        ({}, 0, 0, ""),
        ({"azure": "AKS repairs it by itself"}, 0, 0, "a is left alone: AKS repairs it by itself"),
        ({"healthy": ["b"]}, 0, 0, "pool hb would keep 1 healthy nodes (b), and 2 are the least"),
        ({}, 1, 0, "--at-once is 1"),
        ({}, 0, 3, "3 of pool hb were taken out in the last 24 hours, and --a-day is 3"),
    ],
)
def test_a_machine_is_taken_out_within_the_budget_and_never_from_the_last_healthy_pair(
    seen: dict[str, Any], others: int, begun: int, said: str
) -> None:
    found = refusal(case(), [case()] * others, replace(WHOLE, **seen), ONE, begun)
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("stage", "known", "short"),
    [
        ("redeploy", {"asked": "t"}, False),
        ("delete", {}, False),
        ("delete", {"asked": "t"}, True),
        ("refill", {}, True),
    ],
)
def test_a_pool_is_short_of_a_machine_from_the_request_to_delete_it_until_another_has_come(
    stage: Stage, known: dict[str, Any], short: bool
) -> None:
    assert case(stage, **known).is_given_up == short


def test_a_case_is_written_and_read_whole() -> None:
    known = replace(case("arrive", new="n", bad=["slow"], known=["b"]), begun="2026-11-25T10:00:00+00:00")
    assert case_of(document_of(known)) == known
