"""Reads Azure's public retail prices, which need no login."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from azure.core import PipelineClient
from azure.core.rest import HttpRequest, HttpResponse

from aks_infiniband_cli.preflight import retail_prices

_OTHER_METERS: Final = ("Spot", "Low Priority")
_OTHER_PRODUCTS: Final = ("Windows", "CloudServices")
"""Rows of the same size that are not a price of a machine with Linux (mattrobinsonsre/terrapod pull request 932: the
products of Cloud Services are written with and without a space, and a meter that is not sold yet costs nothing).
"""
_Client = PipelineClient[HttpRequest, HttpResponse]


def prices(vm_sizes: Iterable[str], region: str) -> Mapping[str, float]:
    """USD an hour of one machine with Linux, pay as you go, by size; sizes without a price are left out.

    Raises AzureError.
    """
    prices_by_size = {}
    client: _Client = PipelineClient(retail_prices.URL)
    with client:
        for vm_size in vm_sizes:
            price = _linux(_items(client, vm_size, region))
            if price is not None:
                prices_by_size[vm_size] = price
    return prices_by_size


def _items(client: "_Client", vm_size: str, region: str) -> Iterable[Mapping[str, Any]]:
    wanted = retail_prices.wanted(vm_size, region)
    request = HttpRequest("GET", retail_prices.URL, params={"$filter": wanted})
    response = client.send_request(request)
    response.raise_for_status()
    items: Iterable[Mapping[str, Any]] = response.json()["Items"]
    return items


def _linux(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Linux and Windows share a meter's name; the product's name distinguishes them."""
    return next((float(item["retailPrice"]) for item in items if _is_linux(item)), None)


def _is_linux(item: Mapping[str, Any]) -> bool:
    product = item["productName"].replace(" ", "")
    other = product.endswith(_OTHER_PRODUCTS) or any(word in item["meterName"] for word in _OTHER_METERS)
    return bool(item["retailPrice"]) and not other
