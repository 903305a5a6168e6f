"""Azure's public retail prices: where they are asked for, and with which words."""

from typing import Final

URL: Final = "https://prices.azure.com/api/retail/prices"
"""It needs no login (Azure, "Azure Retail Prices REST API overview")."""


def wanted(vm_size: str, region: str) -> str:
    """The filter for one machine's meters, pay as you go; those of Windows, Spot and Low Priority are among them."""
    return f"armRegionName eq '{region}' and armSkuName eq '{vm_size}' and priceType eq 'Consumption'"
