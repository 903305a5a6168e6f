"""How long a pool's validation takes, by arithmetic."""

import pytest
from aks_infiniband.facts.catalog import SIZES

from benchmark.makespan.report import with_validation
from benchmark.makespan.validation import VM_SIZES, parts, table


@pytest.mark.parametrize("name", VM_SIZES)
def test_a_pool_is_validated_within_90_seconds_of_its_last_driver(name: str) -> None:
    assert parts(SIZES[name]).whole(contention=False) < 90


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
