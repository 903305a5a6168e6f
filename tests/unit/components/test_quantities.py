"""Every quantity that the API server takes has one reading."""

from decimal import Decimal

import pytest
from aks_infiniband.resources.quantities import quantity, shown

QUANTITIES = {
    "8": "8", "1k": "1000", "4Gi": "4294967296", "10Mi": "10485760", "1Ki": "1024", "2Ti": "2199023255552",
    "1Ei": "1152921504606846976", "1.5": "1.5", ".5": "0.5", "5.": "5", "100m": "0.1", "250u": "0.00025",
    "3n": "0.000000003", "1e3": "1000", "2E2": "200", "1E": "1e18", "-1": "-1", "+2M": "2000000", "7G": "7e9",
    "1P": "1e15",
}  # fmt: skip


@pytest.mark.parametrize(("text", "amount"), QUANTITIES.items())
def test_a_quantity_is_read_as_the_api_server_reads_it(text: str, amount: str) -> None:
    assert quantity(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "much", "1 GiB", "1KB", "Gi", None, {}, "1e99999", "9" * 5000 + "x"])
def test_what_is_no_quantity_counts_as_none(text: object) -> None:
    assert quantity(text) == 0


def test_an_amount_is_written_in_digits() -> None:
    assert (shown(quantity("1k")), shown(quantity("8")), shown(quantity("0.50"))) == ("1000", "8", "0.5")
