"""No step of a validation grows with the square of the nodes: counted, not timed."""

import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest
from aks_infiniband.validation.explanation import table
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.payload.rdma.measuring import measure, rows
from aks_infiniband.validation.payload.rdma.narrowing import End
from aks_infiniband.validation.payload.rdma.tasks import port_of, tasks_of
from aks_infiniband.validation.payload.report.acceptance import worst_values
from aks_infiniband.validation.payload.report.document import build_report
from aks_infiniband.validation.payload.say.lines import lines_of
from aks_infiniband.validation.payload.talk.waiting import pause_seconds

from tests.unit.validation.fabric import Fabric

TWICE = 2.5
"""Factor of the work that twice the nodes may take: two, and the cost of sorting."""


class Name(str):
    """A node's name that is compared in Python, so that a comparison is counted wherever it is made."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


def lines_of_code(action: Callable[[], object]) -> int:
    """The number of lines of Python that an action takes, those of every iteration and comparison included."""
    count = 0

    def trace(*_: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # leftovers of other tests run code when they are collected
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


WRONG: dict[str, Callable[[int, int], bool]] = {
    "nothing": lambda node, hca: False,
    "one HCA of all": lambda node, hca: (node, hca) == (1, 1),
    "one HCA of every node": lambda node, hca: hca == 0,
    "every tenth node": lambda node, hca: node % 10 == 0,
    "every third node": lambda node, hca: node % 3 == 0,
    "every other node": lambda node, hca: node % 2 == 0,
    "everything": lambda node, hca: True,
}


def fabric(count: int, name: str) -> Fabric:
    made = Fabric(count, 2)
    bad = {End(node, f"ib{hca}") for n, node in enumerate(made.nodes) for hca in range(2) if WRONG[name](n, hca)}
    made.wrong = lambda task, _: "ib_write_bw ended with code 1" if bad & {*task.pair} else None
    return made


@pytest.mark.field_report("R3")
@pytest.mark.parametrize("name", WRONG)
def test_twice_the_nodes_take_twice_the_work_to_measure_and_to_judge(name: str, expected: Any) -> None:
    def work(count: int) -> int:
        pool = fabric(count, name)
        pool.nodes = [Name(node) for node in pool.nodes]

        def judged() -> None:
            measured, checks = pool.judge(expected["thresholds"])
            parts: Any = {"rdma": rows(measured), "networks": []}
            worst_values(parts, checks, expected["thresholds"])
            table(checks, most_rows=20)
            lines_of(checks)

        return lines_of_code(judged)

    assert work(48) < TWICE * work(24)


@pytest.mark.field_report("R3")
@pytest.mark.parametrize("broken", [False, True])
def test_twice_the_nodes_take_twice_the_work_to_look_at(broken: bool, healthy: Any, expected: Any) -> None:
    def work(count: int) -> int:
        expected["node_count"] = count
        found: Any = {Name(f"n{number}"): healthy() for number in range(count)}
        for number, facts in enumerate(found.values()):
            if broken:
                facts["kernel"] = facts["versions"]["kernel"] = f"kernel {number}"
                facts["hcas"][0]["partition_keys"] = [f"0x8{number:03x}"]
                facts["placement"]["group"] = f"group {number}"

        def judged() -> None:
            checks = judge_pool(found, expected)
            build_report({"run": "uid", "mode": "enforce", "finished": "now"}, found, checks, expected, {})
            lines_of(checks)

        return lines_of_code(judged)

    assert work(48) < TWICE * work(24)


@pytest.mark.field_report("R3")
def test_awaiting_the_nodes_of_a_large_pool_all_pods_together_look_as_often_as_those_of_a_small_one() -> None:
    looks_in_a_second = {nodes: nodes / pause_seconds(10, nodes) for nodes in (2, 20, 50, 100)}
    assert looks_in_a_second == {2: 0.2, 20: 2, 50: 2, 100: 2}


def test_where_all_is_measured_again_no_two_servers_of_a_step_have_one_port() -> None:
    pool, steps = fabric(100, "everything"), []

    def do(step: Any) -> Any:
        steps.append(step)
        return pool.do(step)

    measure(do, pool.rails, {}, tries=2)
    members: Any = {node: {"port": 18515, "devices": dict.fromkeys(rails)} for node, rails in pool.rails.items()}
    assert any("pairs" in step for step in steps)
    for step in steps:
        tasks = tasks_of(step, pool.nodes, pool.rails)
        used = [(task.pair.server.node, port_of(task, members, step["turn"])) for task in tasks]
        assert len(set(used)) == len(used)
