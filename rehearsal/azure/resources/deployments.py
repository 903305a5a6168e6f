"""Template deployments at subscription scope, of templates that register preview features and nothing else.

A deployment is a record of what was deployed: deleting it deletes nothing of that. The deployment succeeds once the
registration is accepted; the feature becomes Registered later.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

from pulumi_azure_native import resources

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.difference import normalized_location
from rehearsal.azure.errors import AzureError, NotSimulatedError, refused
from rehearsal.azure.kinds import Kind, Request, resource_latency
from rehearsal.azure.resources import features
from rehearsal.azure.resources.groups import base_outputs, stamp
from rehearsal.azure.store import Record

_SIMULATED: Final = features.FEATURE_REGISTRATION
_ONLY_IN_AZURE: Final = ("templateLink", "parameters", "parametersLink", "onErrorDeployment", "debugSetting")


def _refuse_create(cloud: Cloud, request: Request) -> None:
    location = str(request.inputs["location"])
    if normalized_location(location) not in cloud.subscription.regions:
        raise refused(
            "no-such-region-for-a-deployment", location=location, regions=",".join(sorted(cloud.subscription.regions))
        )
    _registrations(request.inputs["properties"])


def _refuse_update(cloud: Cloud, request: Request) -> None:
    assert request.current
    before, location = request.current.outputs["location"], normalized_location(str(request.inputs["location"]))
    if location != before:
        raise refused("deployment-in-another-region", location=location, name=request.name, before=before)
    _refuse_create(cloud, request)


def _registrations(properties: Mapping[str, Any]) -> list[str]:
    """The features, `namespace/name`, that a deployment registers. Raises AzureError, NotSimulatedError."""
    for name in _ONLY_IN_AZURE:
        if name in properties:
            raise _not_simulated(f"a deployment's {name}")
    if properties["mode"] != "Incremental":
        raise refused("deployment-mode", mode=properties["mode"])
    template = _parsed(properties.get("template"))
    _require(template, ("$schema", "contentVersion", "resources"), "")
    if not isinstance(template["resources"], list):
        raise _not_simulated("a template's symbolic resource names")
    return [_feature(resource, index) for index, resource in enumerate(template["resources"])]


def _parsed(template: Any) -> Mapping[str, Any]:
    """The template, which may be an object or JSON text."""
    if isinstance(template, str):
        try:
            template = json.loads(template)
        except ValueError as error:
            raise refused("template-is-not-json", error=error) from error
    if not isinstance(template, Mapping):
        raise refused("no-template")
    if "[" in {text[:1] for text in _texts(template)}:
        raise _not_simulated("template expressions ('[…]')")
    return template


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [value] if isinstance(value, str) else []


def _require(value: Mapping[str, Any], names: tuple[str, ...], path: str) -> None:
    for name in names:
        if name not in value:
            raise refused("template-lacks-a-property", name=name, path=path)


def _feature(resource: Mapping[str, Any], index: int) -> str:
    _require(resource, ("type", "apiVersion", "name"), f"resources[{index}]")
    kind, name = str(resource["type"]), str(resource["name"])
    if kind.casefold() != _SIMULATED.arm_type.casefold():
        raise _not_simulated(f"the deployment of a template's {kind} ({name}); it deploys only {_SIMULATED.arm_type}")
    if resource["apiVersion"] != _SIMULATED.api_version:
        raise refused(
            "no-such-type-in-a-template",
            api_version=resource["apiVersion"],
            kind=kind.partition("/")[2],
            known=_SIMULATED.api_version,
        )
    if name.count("/") != 1:
        raise refused("template-resource-name", name=name, kind=kind)
    return name


def _render(_cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(DEPLOYMENT.path, request, DEPLOYMENT.arm_type, DEPLOYMENT.api_version)
    template = json.dumps(request.inputs["properties"]["template"], sort_keys=True)
    # A GET shows no template.
    shown["properties"] = {
        "mode": request.inputs["properties"]["mode"],
        "provisioningState": "Accepted",
        "correlationId": str(uuid.uuid4()),
        "templateHash": str(int(hashlib.sha256(template.encode()).hexdigest()[:16], 16)),
        "timestamp": stamp(),
        "duration": "PT0S",
        "dependencies": [],
        "providers": [_provider(*_SIMULATED.arm_type.split("/", 1))],
    }
    return shown


def _provider(namespace: str, resource_type: str) -> dict[str, Any]:
    """A provider that a template names; one without a location has null for one."""
    return {"namespace": namespace, "resourceTypes": [{"resourceType": resource_type, "locations": [None]}]}


def _deploy(cloud: Cloud, record: Record) -> None:
    assert record.operation
    resource_latency(cloud, record)
    with cloud.clock.changed:
        shown = record.outputs["properties"]
        shown["provisioningState"] = "Failed"
        names = _registrations(record.inputs["properties"])
        try:
            deployed = [features.register(cloud, name, record.operation.started) for name in names]
        except AzureError as error:
            raise refused("deployment-failed", error=error) from error
        shown["outputResources"] = [{"id": resource} for resource in deployed]
        shown["provisioningState"] = "Succeeded"


def _not_simulated(what: str) -> NotSimulatedError:
    return NotSimulatedError(
        f"This rehearsal does not simulate {what}. On Azure the program may work; to rehearse it, leave this out or "
        "extend rehearsal/azure."
    )


DEPLOYMENT: Final = Kind(
    pulumi_type="azure-native:resources:DeploymentAtSubscriptionScope",
    arguments=resources.DeploymentAtSubscriptionScopeArgs,
    resource=resources.DeploymentAtSubscriptionScope,
    arm_type="Microsoft.Resources/deployments",
    path="/subscriptions/{subscriptionId}/providers/Microsoft.Resources/deployments/{deploymentName}",
    naming="random",
    name_rule=naming.DEPLOYMENT,
    # azure-native does not replace a deployment that moves: Azure refuses the update.
    refuse_create=_refuse_create,
    refuse_update=_refuse_update,
    render=_render,
    create=_deploy,
    update=_deploy,
)
