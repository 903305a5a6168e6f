"""The subscription feature: registered and waited for, or required to be absent."""

from typing import Any

import pulumi
import pytest
from aks_infiniband.azure.feature import (
    FeatureAbsence,
    FeatureAbsenceArgs,
    FeaturePresentError,
    FeatureRegistrationError,
)

from declared.pulumi_mocks import SUBSCRIPTION, UNREADABLE, Deploy
from tests.unit.components.azure_programs import POOL, feature_registration, node_pool

FEATURE = "azure-native:resources:DeploymentAtSubscriptionScope"
LOOK = "azure-native:features:getSubscriptionFeatureRegistration"


def absence() -> Any:
    return FeatureAbsence("rdma", args=FeatureAbsenceArgs())


@pytest.mark.field_report("A1", "A1b")
def test_the_feature_is_waited_for_until_it_is_registered(deploy: Deploy) -> None:
    states = ["Registering", "Registering", "Registered"]
    deployment = deploy(lambda: feature_registration().registered, feature_states=states)
    assert deployment.calls.count(LOOK) == 3


def test_a_look_that_fails_once_or_twice_is_no_failure(deploy: Deploy) -> None:
    states = [UNREADABLE, UNREADABLE, "Registering", UNREADABLE, "Registered"]
    deployment = deploy(lambda: feature_registration().registered, feature_states=states)
    assert deployment.calls.count(LOOK) == 5


def test_a_feature_that_cannot_be_looked_at_is_not_looked_at_for_ever(deploy: Deploy) -> None:
    with pytest.raises(FeatureRegistrationError, match=f"{SUBSCRIPTION} cannot be looked at: .*AuthorizationFailed"):
        deploy(lambda: feature_registration().registered, feature_states=[UNREADABLE])


def test_the_feature_is_registered_by_a_template_that_is_deployed_at_subscription_scope(deploy: Deploy) -> None:
    inputs = deploy(lambda: feature_registration().registered).one(FEATURE).inputs
    assert inputs["properties"]["mode"] == "Incremental"
    template = inputs["properties"]["template"]
    assert template["$schema"].endswith("/subscriptionDeploymentTemplate.json#")
    [deployed] = template["resources"]
    assert deployed["type"] == "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations"
    assert (deployed["apiVersion"], deployed["properties"]) == ("2021-07-01", {})
    assert deployed["name"] == "Microsoft.ContainerService/AKSInfinibandSupport"


def test_the_deployment_has_a_name_of_its_own_in_every_location(deploy: Deploy) -> None:
    """Azure keeps a deployment's location for as long as it keeps its name."""
    made = deploy(lambda: feature_registration().registered).one(FEATURE)
    assert "deploymentName" not in made.inputs
    assert made.inputs["location"] == "southcentralus"
    assert made.request["replaceOnChanges"] == ["location"]


def test_a_preview_neither_waits_for_the_feature_nor_looks(deploy: Deploy) -> None:
    assert deploy(lambda: feature_registration().registered, preview=True, feature_states=["NotRegistered"]).calls == []


@pytest.mark.field_report("A1b")
@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("Pending", "Microsoft must approve it"),
        ("Registering", "which continues to wait"),
        ("Unregistered", f"az feature register --subscription {SUBSCRIPTION}"),
    ],
)
def test_a_feature_that_stays_unregistered_names_subscription_state_and_what_to_do(
    deploy: Deploy, state: Any, advice: Any
) -> None:
    with pytest.raises(FeatureRegistrationError) as late:
        deploy(lambda: feature_registration(timeout=0.01).registered, feature_states=[state])
    text = str(late.value)
    assert f"of subscription {SUBSCRIPTION} is {state}" in text
    assert advice in text


@pytest.mark.field_report("A1b")
def test_a_feature_that_somebody_has_unregistered_since_is_not_waited_for_to_the_end(deploy: Deploy) -> None:
    with pytest.raises(FeatureRegistrationError, match=r"is Unregistered after \d+ s.*az feature register"):
        deploy(lambda: feature_registration(timeout=600).registered, feature_states=["Registering", "Unregistered"])


@pytest.mark.field_report("A1")
def test_what_depends_on_the_feature_is_registered_only_after_it(deploy: Deploy) -> None:
    order: list[str] = []

    def program() -> Any:
        feature = feature_registration()
        feature.registered.apply(lambda _: order.append("registered"))
        pool = node_pool(opts=pulumi.ResourceOptions(depends_on=[feature.registered]))
        return pool.ready.apply(lambda _: order.append("pool"))

    deployment = deploy(program, feature_states=["Registering", "Registered"])
    assert order == ["registered", "pool"]
    types = [resource.type for resource in deployment.registrations]
    assert types.index(FEATURE) < types.index(POOL)


def grace(feature: Any) -> Any:
    opts = pulumi.ResourceOptions(depends_on=[feature.absent])
    return node_pool("gb200", "Standard_ND128isr_NDR_GB200_v6", opts=opts).ready


@pytest.mark.parametrize("state", ["NotRegistered", "Unregistered"])
def test_pools_that_must_not_have_the_feature_are_made_where_it_is_absent(deploy: Deploy, state: Any) -> None:
    deployment = deploy(lambda: grace(absence()), feature_states=[state])
    assert [resource.name for resource in deployment.all(POOL)] == ["gb200"]
    assert deployment.all(FEATURE) == [], "nothing is registered for them"


@pytest.mark.parametrize("state", ["Registered", "Registering", "Pending", "Unregistering"])
@pytest.mark.parametrize("preview", [True, False])
def test_a_feature_that_must_be_absent_and_is_not_stops_before_the_pool_and_names_the_command(
    deploy: Deploy, state: Any, preview: Any
) -> None:
    made: list[str] = []

    def program() -> Any:
        pool = grace(absence())
        pool.apply(lambda _: made.append("pool"))
        return pool

    with pytest.raises(FeaturePresentError) as refused:
        deploy(program, feature_states=[state], preview=preview)
    text = str(refused.value)
    assert f"of subscription {SUBSCRIPTION} is {state}; it must not be registered" in text
    command = f"az feature unregister --subscription {SUBSCRIPTION} --namespace Microsoft.ContainerService"
    assert f"{command} --name AKSInfinibandSupport" in text
    assert made == []
