"""The pace at which `aks-infiniband replace` looks at a cluster while it waits."""

from aks_infiniband_cli.bad_machines.replace.pace import Pace


def test_a_long_wait_is_looked_at_less_often_until_something_else_is_waited_for() -> None:
    pace = Pace()
    assert [pace.rest("a job", now) for now in (0, 30, 61, 100)] == [0, 0, 30, 30]
    assert [pace.rest("its drivers", now) for now in (101, 130, 170)] == [0, 0, 30]
