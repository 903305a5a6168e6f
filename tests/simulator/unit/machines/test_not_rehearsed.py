"""A pod's requests that a rehearsal does not fulfil, in the words of its event."""

from rehearsal.machines.kubelet.not_rehearsed import differing_limit, differing_users

OURS = {"runAsUser": 1000, "runAsGroup": 100}


def test_a_pod_that_asks_for_another_user_is_told_whose_its_programs_are() -> None:
    spec = {"securityContext": {"runAsUser": 65534, "runAsGroup": 100, "fsGroup": 5}}
    users = "runAsUser 0 does nothing, a rehearsal runs every program as 1000, which started it"
    assert list(differing_users({"securityContext": {"runAsUser": 0}}, spec, OURS)) == [users, "fsGroup has no effect"]


def test_a_pod_that_asks_for_no_user_or_for_this_one_is_told_nothing() -> None:
    assert list(differing_users({}, {}, OURS)) == []
    assert list(differing_users({"securityContext": {"runAsUser": 1000}}, {}, OURS)) == []


def test_this_computers_limit_of_locked_memory_is_told_where_it_is_lower_than_the_machines() -> None:
    shown = "ulimit -l shows 8192 KiB, which is this computer's limit; the machine lets it lock"
    assert list(differing_limit(None, 8 << 20)) == [f"{shown} any amount of memory"]
    assert list(differing_limit(16 << 20, 8 << 20)) == [f"{shown} 16384 KiB"]
    assert list(differing_limit(8 << 20, 8 << 20)) == []
    assert list(differing_limit(None, None)) == []
