"""The limits of links accuse no healthy pool: their distance from accepted figures, and the page's table."""

from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from aks_infiniband import SIZES
from aks_infiniband.facts.baselines.choice import thresholds
from aks_infiniband.validation.payload.say.expectations import verdict_on

from benchmark.links import FIGURES, accused, levels
from benchmark.pairs import FIELD_DEVIATION

FAR = 5
"""Standard deviations. One normal value of three million is farther below."""
CASES = [(figure, size, level) for figure in FIGURES for size, found in levels(figure).items() for level in found]


def bound_of(figure: str, size: str) -> Any:
    return thresholds(SIZES[size], [figure])[figure]


@pytest.mark.parametrize(("figure", "size", "level"), CASES)
def test_a_healthy_hca_that_is_worse_than_the_accepted_pool_passes(figure: str, size: str, level: float) -> None:
    bound = bound_of(figure, size)
    worse = -1 if bound["better"] == "higher" else 1
    assert verdict_on(level * (1 + worse * FAR * FIELD_DEVIATION), bound) == "pass"


def test_a_limit_too_close_to_what_was_accepted_accuses_healthy_pools() -> None:
    bound = {**bound_of("rdma-write-bandwidth", "Standard_ND96amsr_A100_v4"), "warn": 187.0}
    assert any(accused(Random(number), cast("Any", bound), [187.78], 128) for number in range(10))


def test_the_pages_table_has_each_figure_and_size_and_accuses_none() -> None:
    page = (Path(__file__).parents[3] / "docs" / "judging.md").read_text(encoding="utf-8")
    for figure, size, level in CASES:
        (row,) = [
            line for line in page.splitlines() if line.startswith(f"| `{figure}`, {size.removeprefix('Standard_')} at")
        ]
        assert f"{level:g}" in row
        assert row.endswith("| 0 | 0 | 0 | 0 | 0 |")
