"""The benchmark of deployments, on its smallest stack."""

import pytest

from benchmark.makespan.__main__ import run
from benchmark.makespan.bound import lower_bound
from benchmark.makespan.deployments import Case


@pytest.mark.long
def test_the_guides_order_takes_longer_than_ours_and_neither_takes_less_than_the_tables_say() -> None:
    ours, guides = (Case(stack="ipoib", first=True, guides=guides) for guides in (False, True))
    taken = {timing.case: timing.simulated_s for timing in run([ours, guides], speed=60, parallel=1)}
    assert taken[guides] > taken[ours]
    for case, seconds in taken.items():
        assert seconds > 0.95 * max(span.end for span in lower_bound(case))
