"""The duration of a pool's validation, by arithmetic."""

from dataclasses import replace

import pytest
from aks_infiniband.facts.catalog import SIZES

from benchmark.makespan.benchmark_page import with_validation
from benchmark.makespan.validation import LARGE, VM_SIZES, parts, table


@pytest.mark.parametrize("name", VM_SIZES)
def test_a_pool_is_validated_within_100_seconds_of_its_last_driver_with_an_image_that_has_the_tools(name: str) -> None:
    assert parts(SIZES[name]).whole(contention=False) < 100


def test_loading_the_gpus_adds_15_seconds_at_most() -> None:
    found = parts(SIZES["Standard_ND96isr_H100_v5"])
    assert 0 < found.gpus + found.step <= 15
    assert parts(SIZES["Standard_HB176rs_v4"]).gpus == 0


@pytest.mark.parametrize(("name", "installations"), [("Standard_HB176rs_v4", 1), ("Standard_ND96isr_H100_v5", 2)])
def test_the_default_images_install_their_tools_first_and_cudas_python_before_them(
    name: str, installations: int
) -> None:
    found = parts(SIZES[name])
    assert found.installing == installations * 11
    assert found.whole(contention=False) + found.installing < 120


def test_in_a_large_pool_nothing_takes_longer_but_the_looks() -> None:
    small, large = (parts(SIZES["Standard_ND96isr_H100_v5"], nodes) for nodes in (20, LARGE))
    assert small == parts(SIZES["Standard_ND96isr_H100_v5"])
    assert (large.waiting - small.waiting, large.steps - small.steps) == (40, 16.5)
    assert replace(large, waiting=small.waiting, steps=small.steps, step=small.step) == small


def test_rails_side_by_side_take_a_third_of_what_they_took_one_after_the_other() -> None:
    found = parts(SIZES["Standard_ND96isr_H100_v5"])
    assert found.side_by_side < found.one_after_the_other / 3
    assert found.alone == found.one_after_the_other


def test_a_single_hca_is_measured_as_ever() -> None:
    found = parts(SIZES["Standard_HB176rs_v4"])
    assert (found.side_by_side, found.alone) == (found.one_after_the_other, 0.0)


def test_the_page_has_a_row_for_each_size() -> None:
    page = with_validation("before <!-- validation -->old<!-- end validation --> after")
    assert page == f"before <!-- validation -->\n{table()}\n<!-- end validation --> after"
    assert all(name in page for name in VM_SIZES)
