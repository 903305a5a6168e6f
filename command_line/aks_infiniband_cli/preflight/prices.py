"""Reads Azure's public retail prices, which need no login."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from azure.core import PipelineClient
from azure.core.rest import HttpRequest, HttpResponse

from aks_infiniband_cli import retail_prices

_OTHER: Final = ("Spot", "Low Priority")
"""Meters of machines that this program does not ask for."""
_Client = PipelineClient[HttpRequest, HttpResponse]


def prices(vm_sizes: Iterable[str], region: str) -> Mapping[str, float]:
    """USD an hour of one machine with Linux, pay as you go, by size; sizes without a price are left out.

    Raises AzureError.
    """
    found = {}
    client: _Client = PipelineClient(retail_prices.URL)
    with client:
        for vm_size in vm_sizes:
            price = _linux(_items(client, vm_size, region))
            if price is not None:
                found[vm_size] = price
    return found


def _items(client: "_Client", vm_size: str, region: str) -> Iterable[Mapping[str, Any]]:
    wanted = retail_prices.wanted(vm_size, region)
    request = HttpRequest("GET", retail_prices.URL, params={"$filter": wanted})
    response = client.send_request(request)
    response.raise_for_status()
    items: Iterable[Mapping[str, Any]] = response.json()["Items"]
    return items


def _linux(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Linux and Windows share a meter's name; the product's tells them apart."""
    return next(
        (
            float(item["retailPrice"])
            for item in items
            if not item["productName"].endswith("Windows") and not any(word in item["meterName"] for word in _OTHER)
        ),
        None,
    )
