"""The simulated Azure answers in the shape in which Azure was recorded to answer, field by field."""

from typing import Any, Final

import pytest
import yaml

from rehearsal.azure.resource_manager import answer
from rehearsal.azure.resources import features
from rehearsal.azure.subscription import DEFAULT_FILE, MonitorWorkspace
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, RefusedError, deployment_inputs
from tests.unit.command_line.arm import CALLER, Arm
from tests.unit.field_recordings.recordings import excerpt
from tests.unit.field_recordings.shapes import body, differences, flat

OF_AZURE_NATIVE: Final = {"azureApiVersion": "added", "id": "left out"}
"""azure-native names its version of the API, and keeps the ID outside the outputs."""


def compared(recorded: Any, made: Properties, **maps: set[str]) -> dict[str, str]:
    """The differences of the simulation's outputs from the recording, except those of azure-native itself."""
    outputs = {key: value for key, value in made.items() if not key.startswith("__") and key != "id"}
    found = differences(recorded, outputs, **maps)
    return {path: kind for path, kind in found.items() if OF_AZURE_NATIVE.get(path) != kind}


def test_a_group(azure: Azure) -> None:
    recorded = body("arm-group")
    made = azure.create("resources:ResourceGroup", "rg", tags=recorded["tags"])
    assert compared(recorded, made) == {}


def test_a_network_and_the_subnet_in_it(azure: Azure, group: Properties) -> None:
    recorded = flat(body("arm-network"))
    recorded["subnets"] = [flat(subnet) for subnet in recorded["subnets"]]
    wanted = {
        "addressSpace": recorded["addressSpace"],
        "subnets": [{"name": "default", "addressPrefix": "123.0.0.0/24"}],
    }
    made = azure.create("network:VirtualNetwork", "vnet1", resourceGroupName=group["name"], **wanted)
    assert compared(recorded, made) == {}
    [subnet] = recorded["subnets"]
    inputs = {"resourceGroupName": group["name"], "virtualNetworkName": made["name"], "addressPrefix": "123.0.1.0/24"}
    assert compared(subnet, azure.create("network:Subnet", "more", **inputs)) == {}


def test_an_identity(azure: Azure, group: Properties) -> None:
    made = azure.create("managedidentity:UserAssignedIdentity", "ide", resourceGroupName=group["name"])
    assert compared(flat(body("arm-identity")), made) == {}


def test_a_role_assignment(azure: Azure, group: Properties) -> None:
    recorded = flat(body("arm-role-assignment"))
    principal = SUBSCRIPTION.client.object_id
    wanted = {"principalId": principal, "principalType": "User", "roleDefinitionId": recorded["roleDefinitionId"]}
    made = azure.create("authorization:RoleAssignment", "reader", scope=group["id"], **wanted)
    assert compared(recorded, made) == {
        # Azure answers null for these, which azure-native shows as nothing.
        "condition": "left out",
        "conditionVersion": "left out",
        "delegatedManagedIdentityResourceId": "left out",
        "description": "left out",
        # Null in the answer to the PUT alone, as recorded; a GET has it.
        "createdBy": "text, not null",
    }
    assert made["createdOn"].endswith("Z")


def test_a_rule_group(azure: Azure, group: Properties) -> None:
    recorded = flat(body("arm-rule-group"))
    sent = ("enabled", "description", "scopes", "rules", "interval")
    wanted = {key: recorded[key] for key in sent}
    there = {scope: MonitorWorkspace(region="southcentralus") for scope in recorded["scopes"]}
    azure.cloud.subscription = SUBSCRIPTION.model_copy(update={"monitor_workspaces": there})
    made = azure.create("alertsmanagement:PrometheusRuleGroup", "rules", resourceGroupName=group["name"], **wanted)
    assert compared(recorded, made) == {}
    assert {key: made[key] for key in sent} == wanted


def test_a_deployment_that_is_accepted(azure: Azure) -> None:
    recorded = body("arm-deployment")
    made = azure.create("resources:DeploymentAtSubscriptionScope", "features", **deployment_inputs())
    assert compared(recorded, made) == {
        # The simulation's outputs are those of the deployment when it has ended; the recording is of its beginning.
        "properties.outputResources": "added",
        "properties.outputResources[]": "added",
        "properties.outputResources[].id": "added",
    }


def test_a_features_registration(azure: Azure) -> None:
    azure.create("resources:DeploymentAtSubscriptionScope", "features", **deployment_inputs())
    names = {"providerNamespace": "Microsoft.ContainerService", "featureName": "AKSInfinibandSupport"}
    shown = features.look(azure.cloud, names).outputs
    recorded = body("arm-feature-registration")
    assert compared(recorded, shown) == {}
    assert shown["type"] == recorded["type"]


def test_a_resource_provider(azure: Azure) -> None:
    path = f"/subscriptions/{SUBSCRIPTION.subscription_id}/providers/Microsoft.ContainerService/register"
    azure.cloud.token = "token"
    shown = answer(azure.cloud, f"{path}?api-version=2021-04-01", "Bearer token").body
    # The program reads neither the provider's own application nor the types that it has.
    ours = {"authorization", "resourceTypes[]"}
    found = differences(body("arm-provider"), shown)
    assert {path: kind for path, kind in found.items() if not path.startswith(tuple(ours))} == {}


@pytest.mark.parametrize(
    ("principal", "kind", "recording", "directorys"),
    [
        ("0f14a80d-42e5-4d57-afe0-46acf9dfae05", "User", "arm-principal-not-found", "0f14a80d42e54d57afe046acf9dfae05"),
        ("33333333-4444-4555-8666-777777777777", "User", "arm-principal-type", "af39... yada yada... 05f4db"),
    ],
)
def test_a_role_assignments_refusal_has_azures_words(
    azure: Azure, group: Properties, principal: str, kind: str, recording: str, directorys: str
) -> None:
    words = excerpt(recording).replace(directorys, principal.replace("-", ""))
    words = words.replace("c7cb8e56-3c8d-431c-a94c-866e27a25b45", SUBSCRIPTION.tenant_id)
    reader = "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    wanted = {"principalId": principal, "principalType": kind, "roleDefinitionId": reader}
    with pytest.raises(RefusedError) as refusal:
        azure.create("authorization:RoleAssignment", "reader", scope=group["id"], **wanted)
    assert words in str(refusal.value)


def test_families_have_azures_own_names() -> None:
    series = yaml.safe_load(DEFAULT_FILE.read_text(encoding="utf-8"))["series"]
    known = {usage["name"]["value"] for usage in body("arm-usages")["value"]} | set(body("arm-families").values())
    assert {name: each["family"] for name, each in series.items() if each["family"] not in known} == {}


def test_the_server_of_preflights_tests_answers_nothing_that_azure_does_not() -> None:
    arm = Arm(roles=("Owner",))
    own = f"/subscriptions/{SUBSCRIPTION.subscription_id}"
    feature = f"{own}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features/AKSInfinibandSupport"
    answers = {
        "arm-skus": arm.answer(f"{own}/providers/Microsoft.Compute/skus", ""),
        "arm-usages": arm.answer(f"{own}/providers/Microsoft.Compute/locations/eastus/usages", ""),
        "arm-feature": arm.answer(feature, ""),
        "arm-role-definitions": arm.answer(f"{own}/providers/Microsoft.Authorization/roleDefinitions", ""),
        "arm-role-assignments": arm.answer(
            f"{own}/providers/Microsoft.Authorization/roleAssignments", f"$filter=assignedTo('{CALLER}')"
        ),
    }
    for recording, (status, made) in answers.items():
        found = differences(body(recording), made)
        # Preflight reads only a part. Reader, which was recorded, lacks exceptions; other roles have some.
        found.pop("value[].properties.permissions[].notActions[]", None)
        assert (status, {path: kind for path, kind in found.items() if kind != "left out"}) == (200, {}), recording
