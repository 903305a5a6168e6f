"""The number of requests that Azure takes for one resource, by the token buckets of AKS's resource provider.

Source: MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), quotas-skus-regions.md, throttling limits: PUT of an agent
pool or of a managed cluster, 20 at once and one more a minute, each counted for its own resource; 429 with the code
Throttled and a Retry-After. The sentence is ours.
"""

import math
import time
from typing import Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused

_SIZE: Final = 20
_REFILL_SECONDS: Final = 60.0


def take(cloud: Cloud, resource: str) -> None:
    """Take one request of a resource's bucket. Raises AzureError if it is empty."""
    speed, now = cloud.clock.latencies.speed, time.monotonic()
    left, since = cloud.buckets.get(resource.casefold(), (float(_SIZE), now))
    left = min(_SIZE, left + (now - since) * speed / _REFILL_SECONDS)
    if left < 1:
        wait = math.ceil((1 - left) * _REFILL_SECONDS)
        raise refused("throttled", resource=resource, size=_SIZE, wait=wait)
    cloud.buckets[resource.casefold()] = (left - 1, now)
