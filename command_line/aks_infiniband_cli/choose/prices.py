"""What a machine costs an hour, where somebody has read it from Azure's retail prices, and the command that asks."""

import re
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


_KARPENTER: Final = "2026-06-18"
"""On which Azure/karpenter-provider-azure read all regions (pkg/providers/pricing/zz_generated.pricing.go, 2b431da)."""
_PRICES: Final[dict[str, Price]] = {
    "Standard_HC44rs": Price(usd_per_hour=3.168, region="eastus", read=_KARPENTER),
    "Standard_HB120rs_v2": Price(usd_per_hour=3.60, region="eastus", read=_KARPENTER),
    "Standard_HB120rs_v3": Price(usd_per_hour=3.60, region="eastus", read=_KARPENTER),
    "Standard_HB176rs_v4": Price(usd_per_hour=7.20, region="eastus", read=_KARPENTER),
    "Standard_HB368rs_v5": Price(usd_per_hour=19.80, region="eastus", read=_KARPENTER),
    "Standard_HX176rs": Price(usd_per_hour=8.64, region="eastus", read=_KARPENTER),
    "Standard_ND40rs_v2": Price(usd_per_hour=22.032, region="eastus", read=_KARPENTER),
    "Standard_ND96asr_v4": Price(usd_per_hour=27.197, region="eastus", read="2026-08-17"),
    "Standard_ND96amsr_A100_v4": Price(usd_per_hour=32.77, region="eastus", read=_KARPENTER),
    "Standard_ND96isr_H100_v5": Price(usd_per_hour=98.32, region="eastus", read="2026-09-16"),
    "Standard_ND96isr_H200_v5": Price(usd_per_hour=84.80, region="eastus2", read=_KARPENTER),
    "Standard_ND96isr_MI300X_v5": Price(usd_per_hour=48.00, region="eastus2", read=_KARPENTER),
    "Standard_ND128isr_NDR_GB200_v6": Price(usd_per_hour=108.16, region="eastus", read=_KARPENTER),
}
"""By size. Azure's retail prices API, meters of type Consumption without Windows, Spot and Low Priority, as public
repositories recorded its answers on these days. These are the cheapest regions: others cost up to twice as much."""
_CONSTRAINED: Final = re.compile(r"-\d+")
"""The number of cores in the name of a size that has fewer than its machine, such as Standard_HB120-96rs_v3."""


def price_of(vm_size: str) -> Price | None:
    """None where nobody has recorded it. A constrained size costs what its machine does."""
    return _PRICES.get(_CONSTRAINED.sub("", vm_size))


def price_command(vm_size: str, region: str) -> str:
    """The command that reads a size's prices today; it needs no login."""
    columns = '.Items[] | "\\(.retailPrice) \\(.currencyCode) an hour  \\(.productName), \\(.meterName)"'
    return f"curl -sG {URL} --data-urlencode \"\\$filter={wanted(vm_size, region)}\" | jq -r '{columns}'"
