"""The arithmetic of the all-reduce."""

import numpy
import pytest
from aks_infiniband.validation.payload.collective.gpu import PERIOD, expected_sum


@pytest.mark.parametrize("ranks", [2, 16, 800, 4096])
def test_the_expected_sum_is_exact_in_float32_in_any_order(ranks: int) -> None:
    position = PERIOD - 1
    values = numpy.array([position % PERIOD + rank for rank in range(ranks)], dtype=numpy.float32)
    for order in (values, values[::-1]):
        total = numpy.float32(0)
        for value in order:
            total += value
        assert int(total) == expected_sum(position, ranks)


def test_a_block_in_anothers_place_changes_the_expected_sum() -> None:
    assert expected_sum(0, 16) != expected_sum(1 << 26, 16)
