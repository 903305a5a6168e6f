"""The arithmetic of the all-reduce."""

import numpy
import pytest
from aks_infiniband.validation.payload.collective.gpu import PERIOD, expected_sum
from aks_infiniband.validation.payload.collective.rank import bus_bandwidth, elements, foreseen_seconds, repeats

BUDGET = 10.0


@pytest.mark.parametrize(("ranks", "factor"), [(2, 1.0), (4, 1.5), (8, 1.75), (16, 1.875)])
def test_bus_bandwidth_is_algorithm_bandwidth_times_two_n_minus_one_over_n(ranks: int, factor: float) -> None:
    assert bus_bandwidth(8 << 30, 0.1, ranks) == pytest.approx((8 << 30) / 0.1 / 1e9 * factor)


def test_the_smallest_message_is_two_numbers_and_none_is_empty() -> None:
    assert (elements(8), elements(1), elements(16 << 30)) == (2, 1, 4 << 30)


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


def test_a_fast_size_gets_all_its_iterations() -> None:
    assert repeats(0.1, iterations=20, warmup=5, budget_seconds=BUDGET) == (5, 20, 1)


def test_a_short_size_is_timed_in_rounds_of_which_the_median_counts() -> None:
    assert repeats(1e-4, iterations=20, warmup=5, budget_seconds=BUDGET) == (5, 20, 5)


def test_a_slow_size_gets_fewer_within_its_budget() -> None:
    found = repeats(1.0, iterations=20, warmup=5, budget_seconds=BUDGET)
    assert found == (2, 8, 1)
    assert (found.warmup + found.iterations) * 1.0 <= BUDGET


def test_a_very_slow_size_is_still_timed_three_times() -> None:
    assert repeats(60.0, iterations=20, warmup=5, budget_seconds=BUDGET) == (1, 3, 1)


def test_a_larger_message_is_foreseen_to_take_longer_in_proportion() -> None:
    assert foreseen_seconds(8 << 30, 1 << 30, 0.5) == 4.0


def test_the_latency_of_a_small_message_is_not_taken_for_its_rate() -> None:
    assert foreseen_seconds(1 << 20, 8, 40e-6) < 0.02
