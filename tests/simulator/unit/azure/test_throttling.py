"""AKS throttles requests for one resource: twenty at once, and one more a minute."""

from http import HTTPStatus

import pytest

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError
from rehearsal.azure.throttling import take
from tests.simulator.unit.azure.asking import MakeAzure


@pytest.fixture
def cloud(make_azure: MakeAzure) -> Cloud:
    """A subscription whose time is the test's."""
    return make_azure().cloud


@pytest.fixture(autouse=True)
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds; a test lets it pass."""
    now = [1000.0]
    monkeypatch.setattr("rehearsal.azure.throttling.time.monotonic", lambda: now[0])
    return now


def test_the_twenty_first_request_for_a_pool_is_throttled_and_says_how_long(cloud: Cloud) -> None:
    for _ in range(20):
        take(cloud, "/clusters/aks/agentPools/nd")
    with pytest.raises(AzureError) as refusal:
        take(cloud, "/clusters/AKS/agentPools/nd")
    assert (refusal.value.status, refusal.value.code) == (HTTPStatus.TOO_MANY_REQUESTS, "Throttled")
    assert "Please try again after" in refusal.value.message


def test_each_pool_has_a_bucket_of_its_own(cloud: Cloud) -> None:
    for _ in range(20):
        take(cloud, "/clusters/aks/agentPools/nd")
    take(cloud, "/clusters/aks/agentPools/hb")


def test_a_minute_later_there_is_room_for_one_more(cloud: Cloud, moment: list[float]) -> None:
    for _ in range(20):
        take(cloud, "/clusters/aks/agentPools/nd")
    moment[0] += 60 / cloud.clock.latencies.speed
    take(cloud, "/clusters/aks/agentPools/nd")
    with pytest.raises(AzureError):
        take(cloud, "/clusters/aks/agentPools/nd")
