"""Preview features: how they are registered, how they are not, and when they are effective."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from rehearsal.azure.resources import features
from tests.simulator.unit.azure.asking import FEATURE, Azure, MakeAzure, deployment_inputs

REGISTRATION = "features:SubscriptionFeatureRegistration"
DEPLOYMENT = "resources:DeploymentAtSubscriptionScope"
NAMES: dict[str, Any] = dict(zip(("providerNamespace", "featureName"), FEATURE.split("/"), strict=True))


def feature_state(azure: Azure) -> str:
    answer = azure.invoke("features:getSubscriptionFeatureRegistration", **NAMES)
    return str(answer["properties"]["state"])


def wait_until_registered(azure: Azure) -> None:
    limit = time.monotonic() + 60
    while feature_state(azure) != "Registered":
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_deployed_registration_is_accepted_at_once_and_effective_later(
    make_azure: MakeAzure, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure = make_azure(speed=300)
    begun = time.time()
    day = SimpleNamespace(time=lambda: begun)  # however long the next lines take
    monkeypatch.setattr(features, "time", day)
    assert feature_state(azure) == "NotRegistered"
    deployment = azure.create(DEPLOYMENT, "f", **deployment_inputs())
    assert deployment["properties"]["provisioningState"] == "Succeeded"
    [deployed] = deployment["properties"]["outputResources"]
    assert deployed["id"].endswith("/subscriptionFeatureRegistrations/AKSInfinibandSupport")
    assert feature_state(azure) == "Registering"
    day.time = lambda: time.time() + 600
    assert feature_state(azure) == "Registered"


def test_a_second_deployment_does_not_start_the_registration_again(azure: Azure) -> None:
    azure.create(DEPLOYMENT, "one", **deployment_inputs())
    wait_until_registered(azure)
    azure.cloud.clock.latencies = type(azure.cloud.clock.latencies)(speed=1e4)
    azure.create(DEPLOYMENT, "two", **deployment_inputs())
    assert feature_state(azure) == "Registered"


def test_every_deployment_has_a_name_of_its_own_and_can_be_replaced_before_it_goes(azure: Azure) -> None:
    inputs, failures = azure.check(DEPLOYMENT, "f", deployment_inputs())
    assert failures == []
    assert inputs["deploymentName"].startswith("f")
    assert (inputs["deploymentName"] != "f", inputs["location"]) == (True, "southcentralus")


def test_every_feature_can_be_read_registered_or_not(azure: Azure) -> None:
    before = azure.invoke("features:getSubscriptionFeatureRegistration", **NAMES)
    assert azure.read(REGISTRATION, "f", before["id"])["properties"]["state"] == "NotRegistered"
    azure.create(DEPLOYMENT, "f", **deployment_inputs())
    wait_until_registered(azure)
    assert azure.read(REGISTRATION, "f", before["id"])["properties"]["state"] == "Registered"
