"""The pods of a run go through its steps together, one that is replaced meanwhile included."""

import json
import threading
from typing import Any

from aks_infiniband.validation.payload.talk.boards import Board, entry_key
from aks_infiniband.validation.payload.talk.rendezvous import Lead, follow


class Shared:
    """A ConfigMap's data, for several threads."""

    def __init__(self) -> None:
        self.data: dict[str, str] = {}
        self.plan: str | None = None
        self.lock = threading.Lock()

    def board(self, run: str = "run") -> Board:
        def write_plan(text: str) -> None:
            self.plan = text

        return Board(run, lambda: [self.read()], self.write, read_plan=lambda: self.plan, write_plan=write_plan)

    def read(self) -> dict[str, str]:
        with self.lock:
            return dict(self.data)

    def write(self, changes: Any) -> None:
        with self.lock:
            for key, value in changes.items():
                if value is None:
                    self.data.pop(key, None)
                else:
                    self.data[key] = value


def any_step(number: int) -> Any:
    return {"x": number}


def number_of(step: Any) -> Any:
    return step["x"]


def entry(rank: int, pod: str | None = None) -> Any:
    return {"rank": rank, "node": f"n{rank}", "pod": pod or f"pod-{rank}", "address": f"10.0.0.{rank}"}


def lead(shared: Shared, carry: Any, *, count: int = 2, timeout: float = 60) -> Lead:
    return Lead(
        shared.board(), entry(0), carry, node_count=count, poll_seconds=0.01, timeout_seconds=timeout
    )  # fmt: skip


def start(shared: Shared, rank: int, carry: Any, *, pod: str | None = None, over: Any = None) -> threading.Thread:
    def body() -> None:
        ended = follow(shared.board(), entry(rank, pod), carry, poll_seconds=0.01, timeout_seconds=60)
        if over is not None:
            over.append((pod or f"pod-{rank}", ended))

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread


def test_every_pod_does_every_step_and_goes_when_it_is_over() -> None:
    shared = Shared()
    over: list[Any] = []
    others = [start(shared, rank, lambda step, _, rank=rank: [rank, number_of(step)], over=over) for rank in (1, 2)]
    first = lead(shared, lambda step, _: ["me", number_of(step)], count=3)
    assert first.assemble()
    assert list(first.members) == ["n0", "n1", "n2"]
    assert first.step(any_step(1)) == {"n0": ["me", 1], "n1": [1, 1], "n2": [2, 1]}
    assert first.step(any_step(2)) == {"n0": ["me", 2], "n1": [1, 2], "n2": [2, 2]}
    first.end()
    for other in others:
        other.join(60)
    assert sorted(over) == [("pod-1", True), ("pod-2", True)]


def test_where_nothing_can_be_measured_the_others_go_without_having_taken_part() -> None:
    shared = Shared()
    over: list[Any] = []
    other = start(shared, 1, lambda *_: "never", over=over)
    lead(shared, lambda *_: "never").end()
    other.join(60)
    assert over == [("pod-1", True)]


def test_a_pod_that_comes_late_is_waited_for() -> None:
    shared = Shared()
    first = lead(shared, lambda *_: None)
    late = threading.Timer(0.3, lambda: start(shared, 1, lambda *_: "late"))
    late.start()
    assert first.assemble()
    assert first.step(any_step(1)) == {"n0": None, "n1": "late"}
    first.end()


def test_who_comes_after_all_that_were_waited_for_takes_no_part() -> None:
    shared = Shared()
    other = start(shared, 1, lambda *_: "other")
    first = lead(shared, lambda *_: "me")
    assert first.assemble()
    shared.board().enter(entry(5))
    assert first.step(any_step(1)) == {"n0": "me", "n1": "other"}
    assert list(first.members) == ["n0", "n1"]
    first.end()
    other.join(60)


def test_a_pod_that_never_comes_is_not_waited_for_for_ever() -> None:
    assert not lead(Shared(), lambda *_: None, timeout=0.1).assemble()


def test_a_pod_that_does_not_answer_is_missing_from_what_came_of_the_step() -> None:
    shared = Shared()
    shared.board().enter(entry(1))
    first = lead(shared, lambda *_: "me", timeout=1)
    assert first.assemble()
    assert first.step(any_step(1)) == {"n0": "me"}
    assert first.time_is_up


def test_a_step_begins_again_with_the_pod_that_replaces_another_half_way() -> None:
    shared = Shared()
    shared.board().enter(entry(1, "old"))  # and is killed
    carried: list[Any] = []

    def carry(_: Any, members: Any) -> str:
        carried.append(members["n1"]["pod"])
        return "me"

    first = lead(shared, carry)
    assert first.assemble()
    new = threading.Timer(0.2, lambda: start(shared, 1, lambda *_: "new", pod="new"))
    new.start()
    assert first.step(any_step(1)) == {"n0": "me", "n1": "new"}
    assert carried == ["old", "new"]
    first.end()


def test_a_replaced_leader_starts_over_with_the_pods_that_still_wait() -> None:
    shared = Shared()
    over: list[Any] = []
    other = start(shared, 1, lambda step, _: number_of(step), over=over)
    before = lead(shared, lambda *_: None)
    assert before.assemble()
    before.step(any_step(1))  # and is killed
    after = Lead(
        shared.board(), entry(0, "again"), lambda *_: None, node_count=2, poll_seconds=0.01, timeout_seconds=10
    )
    assert after.assemble()
    assert after.step(any_step(2)) == {"n0": None, "n1": 2}
    after.end()
    other.join(60)
    assert over == [("pod-1", True)]


def test_entries_of_another_run_or_that_cannot_be_read_do_not_count() -> None:
    shared = Shared()
    shared.data = {entry_key(1): json.dumps({**entry(1), "run": "before"}), entry_key(2): "{half"}
    assert (shared.board().entries(), shared.board().planned()) == ({}, None)


def test_a_pod_that_is_replaced_in_every_try_is_counted_and_the_others_are_heard() -> None:
    """As if the kernel kills it for want of memory, each time that the step begins."""
    shared, begun = Shared(), list[str]()

    def dies(name: str) -> Any:
        def carry(_step: Any, _members: Any) -> Any:
            begun.append(name)
            number = int(name.rpartition("-")[2]) + 1
            shared.board().enter(entry(1, f"again-{number}"))
            if number < 3:
                start(shared, 1, dies(f"again-{number}"), pod=f"again-{number}")
            threading.Event().wait(60)  # it never says anything

        return carry

    leading = lead(shared, lambda *_: "leads", count=3)
    start(shared, 1, dies("again-0"), pod="again-0")
    start(shared, 2, lambda *_: "healthy")
    assert leading.assemble()

    found = leading.step(any_step(1))
    leading.end()

    assert found == {"n0": "leads", "n2": "healthy"}
    assert leading.replaced == {"n1": 3}
    assert begun == ["again-0", "again-1", "again-2"]
