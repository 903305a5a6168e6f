"""The price of a machine an hour, if it was read from Azure's retail prices, and the command that reads it."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from aks_infiniband.facts.tables import table

from aks_infiniband_cli.preflight.retail_prices import URL, wanted


@dataclass(frozen=True, kw_only=True)
class Price:
    """Hourly price of one Linux machine, pay as you go, in one region."""

    usd_per_hour: float
    region: str
    read: str
    """The day on which Azure's retail prices said so."""


_CONSTRAINED: Final = re.compile(r"-\d+")
"""The number of cores in the name of a size that has fewer than its machine, such as Standard_HB120-96rs_v3."""


def price_of(vm_size: str) -> Price | None:
    """None if it is not recorded. A constrained size costs what its machine does."""
    row = _prices().get(_CONSTRAINED.sub("", vm_size))
    return row and Price(usd_per_hour=row["usdPerHour"], region=row["region"], read=row["read"].isoformat())


@cache
def _prices() -> dict[str, Any]:
    """By size."""
    prices: dict[str, Any] = table(__package__, "prices.yaml")
    return prices


def price_command(vm_size: str, region: str) -> str:
    """The command that reads a size's prices today; it needs no login."""
    columns = '.Items[] | "\\(.retailPrice) \\(.currencyCode) an hour  \\(.productName), \\(.meterName)"'
    return f"curl -sG {URL} --data-urlencode \"\\$filter={wanted(vm_size, region)}\" | jq -r '{columns}'"
