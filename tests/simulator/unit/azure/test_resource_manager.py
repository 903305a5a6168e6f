"""Azure Resource Manager's own address: a provider is registered again, and goes by its features from then on."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from rehearsal.azure.errors import AzureError
from rehearsal.azure.resource_manager import answer, serve_resource_manager
from rehearsal.azure.subscription_faults import Fault
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import (
    SUBSCRIPTION,
    Azure,
    MakeAzure,
    RefusedError,
    deployment_inputs,
    pool_inputs,
)
from tests.simulator.unit.azure.pools import POOL, fabrics

PATH = f"/subscriptions/{SUBSCRIPTION.subscription_id}/providers/Microsoft.ContainerService/register"
VERSION = "?api-version=2021-04-01"


@pytest.fixture
def address(azure: Azure) -> Iterator[str]:
    """The address of the simulated Azure Resource Manager."""
    server = serve_resource_manager(azure.cloud)
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def registered_again(address: str, token: str) -> httpx2.Response:
    with httpx2.Client(trust_env=False, timeout=60) as client:
        return client.post(address + PATH + VERSION, headers={"Authorization": f"Bearer {token}"})


@pytest.mark.field_report("R16")
def test_aks_knows_of_a_registered_feature_only_once_its_provider_is_registered_again(
    azure: Azure, cluster: Properties, address: str
) -> None:
    wanted = pool_inputs(cluster, vmSize="Standard_HB120rs_v3")
    azure.create("resources:DeploymentAtSubscriptionScope", "f", **deployment_inputs())
    azure.create(POOL, "before", **wanted)
    answered = registered_again(address, azure.invoke("authorization:getClientToken")["token"])
    azure.create(POOL, "after", **wanted)
    assert (answered.status_code, answered.json()["registrationState"]) == (200, "Registered")
    assert (len(fabrics(azure, "before")), len(fabrics(azure, "after"))) == (2, 1)


def test_somebody_without_the_token_is_refused(azure: Azure, address: str) -> None:
    refused = registered_again(address, "guessed")
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "InvalidAuthenticationToken")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (PATH, "MissingApiVersionParameter"),
        (PATH.replace("ContainerService", "Containers") + VERSION, "InvalidResourceNamespace"),
        (PATH.replace(SUBSCRIPTION.subscription_id, "another") + VERSION, "SubscriptionNotFound"),
        (PATH.replace("/register", "/unregister") + VERSION, "NotFound"),
    ],
)
def test_what_azure_would_refuse_is_refused(azure: Azure, target: str, code: str) -> None:
    azure.cloud.token = "t"
    with pytest.raises(AzureError) as refused:
        answer(azure.cloud, target, "Bearer t")
    assert refused.value.code == code


def test_a_request_without_a_login_is_refused(azure: Azure) -> None:
    with pytest.raises(AzureError, match="header is missing"):
        answer(azure.cloud, PATH + VERSION, None)


def test_a_login_that_may_not_register_is_refused_in_azures_words(make_azure: MakeAzure) -> None:
    fault: dict[str, Any] = {"code": "AuthorizationFailed", "type": "Provider", "first": 1}
    cloud = make_azure(faults=(Fault.model_validate(fault),)).cloud
    cloud.token = "t"
    words = (
        "to perform action 'Microsoft.ContainerService/register/action' over scope "
        f"'/subscriptions/{SUBSCRIPTION.subscription_id}' or"
    )
    with pytest.raises(AzureError, match=words):
        answer(cloud, PATH + VERSION, "Bearer t")
    assert answer(cloud, PATH + VERSION, "Bearer t").body["registrationState"] == "Registered"


def test_a_token_for_another_service_is_not_given(azure: Azure) -> None:
    with pytest.raises(RefusedError, match="tokens for Azure Resource Manager alone"):
        azure.invoke("authorization:getClientToken", endpoint="https://vault.azure.net")
