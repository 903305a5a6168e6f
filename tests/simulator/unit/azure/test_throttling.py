"""AKS throttles requests for one resource: twenty at once, and one more a minute."""

import time

import pytest

from rehearsal.azure.errors import AzureError
from rehearsal.azure.throttling import take
from tests.simulator.unit.azure.asking import MakeAzure

POOL = "/clusters/aks/agentPools/nd"


def test_the_twenty_first_request_for_a_pool_waits_a_minute_and_one_for_another_pool_does_not(
    make_azure: MakeAzure, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud, now = make_azure().cloud, 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for _ in range(20):
        take(cloud, POOL)
    with pytest.raises(AzureError, match="Please try again after") as refusal:
        take(cloud, POOL.replace("aks", "AKS"))
    assert (refusal.value.status, refusal.value.code) == (429, "Throttled")
    take(cloud, "/clusters/aks/agentPools/hb")
    now += 60 / cloud.clock.latencies.speed
    take(cloud, POOL)
    with pytest.raises(AzureError):
        take(cloud, POOL)
