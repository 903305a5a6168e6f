"""A machine that is back with its drivers and still lacks a device: `replace` does not wait its whole limit for it.

Its ten minutes are real ones, which pass while little else happens.
"""

import re
from pathlib import Path

import pytest

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import BEFORE, fleet, steps, tell

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_it_is_bad_ten_minutes_after_its_drivers_are_ready(evidence: Path, rehearse_ours: RehearseOurs) -> None:
    hbv4 = fleet(rehearse_ours("hbv4"), machines=3)
    node = hbv4.node(0)
    hbv4.stack.fault("missing", node=node)
    code, case = hbv4.replaced(evidence, node, "--farthest", "restart")
    tell("HCA missing, ten minutes", case)
    assert (code, case["outcome"], steps(case)) == (1, "still bad", [*BEFORE, "Bad", "Ended"])
    waited = re.match(r"(\d+) minutes after its drivers were ready: rdma/shared_ib 0", case["lines"][-2]["what"])
    assert waited, case["lines"][-2]
    assert 10 <= int(waited[1]) <= 11
