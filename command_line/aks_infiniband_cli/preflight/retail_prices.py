"""Azure's public retail prices: their address, and the words of a query."""

from typing import Final

URL: Final = "https://prices.azure.com/api/retail/prices"
"""The address needs no login (Azure, "Azure Retail Prices REST API overview")."""


def wanted(vm_size: str, region: str) -> str:
    """The filter for one machine's meters, pay as you go; those of Windows, Spot and Low Priority are among them."""
    return f"armRegionName eq '{region}' and armSkuName eq '{vm_size}' and priceType eq 'Consumption'"
