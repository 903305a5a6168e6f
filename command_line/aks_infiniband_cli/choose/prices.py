"""What a machine costs an hour, where somebody has read it from Azure's retail prices, and the command that asks."""

from dataclasses import dataclass
from typing import Final

from aks_infiniband_cli.retail_prices import URL, wanted


@dataclass(frozen=True, kw_only=True)
class Price:
    """Of one machine with Linux, pay as you go, in one region."""

    usd_per_hour: float
    region: str
    read: str
    """The day on which Azure's retail prices said so."""


PRICES: Final[dict[str, Price]] = {
    "Standard_ND96asr_v4": Price(usd_per_hour=27.197, region="eastus", read="2026-08-17"),
    "Standard_ND96isr_H100_v5": Price(usd_per_hour=98.32, region="eastus", read="2026-09-16"),
}
"""By size. Azure's retail prices API, meters of type Consumption without Windows, Spot and Low Priority, as public
repositories have recorded its answers on these days. Regions differ by up to a quarter."""


def price_command(vm_size: str, region: str) -> str:
    """The command that reads a size's prices today; it needs no login."""
    columns = '.Items[] | "\\(.retailPrice) \\(.currencyCode) an hour  \\(.productName), \\(.meterName)"'
    return f"curl -sG {URL} --data-urlencode \"\\$filter={wanted(vm_size, region)}\" | jq -r '{columns}'"
