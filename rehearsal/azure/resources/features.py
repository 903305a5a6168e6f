"""Preview features of the subscription: a registration is accepted at once and becomes effective minutes later.

The resource provider acts by the state at its last own registration: `az feature register` says that `az provider
register` is required "to get the change propagated".
"""

import time
from typing import Any, Final

from pulumi_azure_native import features

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AlreadyExistsError, refused
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources.groups import stamp
from rehearsal.azure.store import Record

_PATH: Final = (
    "/subscriptions/{subscriptionId}/providers/Microsoft.Features/featureProviders/{providerNamespace}"
    "/subscriptionFeatureRegistrations/{featureName}"
)
_RELEASED: Final = "2024-09-01T00:00:00Z"
"""Any time before now."""
_REGISTERED_OR_UNDER_WAY: Final = ("Registered", "Registering", "Pending")


def state(cloud: Cloud, feature: str) -> str:
    """The state of a feature, `namespace/name`. Raises AzureError for one that no resource provider has."""
    known = {name.casefold(): state for name, state in cloud.subscription.features.items()}
    if feature.casefold() not in known:
        name = naming.last_part(feature)
        raise refused("no-such-feature", name=name, known=", ".join(sorted(cloud.subscription.features)))
    record = _registration(cloud, feature)
    if record is None:
        return known[feature.casefold()]
    effective = float(record.details["registeredAt"])
    return "Registered" if time.time() >= effective else "Registering"


def in_effect(cloud: Cloud, feature: str) -> bool:
    """True if the feature's resource provider acts by it. A registration that the subscription began with counts."""
    record = _registration(cloud, feature)
    told = record is None or float(record.details.get("toldProviderAt", 0)) >= float(record.details["registeredAt"])
    return told and state(cloud, feature) == "Registered"


def tell_provider(cloud: Cloud, provider_namespace: str) -> None:
    """The effect of a resource provider's registration on its features: those that are Registered take effect."""
    for record in cloud.store.all(FEATURE_REGISTRATION.pulumi_type):
        if record.inputs["providerNamespace"] == provider_namespace:
            record.details["toldProviderAt"] = time.time()
    cloud.store.save()


def register(cloud: Cloud, feature: str, started: float) -> str:
    """PUT the registration of a feature, `namespace/name`, and return its ID; one that is there stays as it is.

    started: when, in seconds since the epoch. Raises AzureError for a feature that no resource provider has.
    """
    provider_namespace, _, name = feature.partition("/")
    path = _path(cloud, provider_namespace, name)
    resource = naming.resource_id(_PATH, path)
    if state(cloud, feature) not in _REGISTERED_OR_UNDER_WAY:
        effective = started + cloud.clock.latencies.seconds("featureRegistration")
        cloud.store.put(
            Record(
                id=resource,
                pulumi_type=FEATURE_REGISTRATION.pulumi_type,
                inputs={"providerNamespace": provider_namespace, "featureName": name},
                outputs=outputs(cloud, path),
                details={"registeredAt": effective},
            )
        )
    return resource


def look(cloud: Cloud, arguments: dict[str, str]) -> Record:
    """The findings of a GET: every feature that a resource provider has, registered or not.

    arguments: providerNamespace and featureName. Raises AzureError for a feature that no resource provider has.
    """
    path = _path(cloud, arguments["providerNamespace"], arguments["featureName"])
    names = {key: path[key] for key in ("providerNamespace", "featureName")}
    return Record(
        id=naming.resource_id(_PATH, path),
        pulumi_type=FEATURE_REGISTRATION.pulumi_type,
        inputs={**names, "azureApiVersion": FEATURE_REGISTRATION.api_version},
        outputs=outputs(cloud, path),
    )


def outputs(cloud: Cloud, path: dict[str, str]) -> dict[str, Any]:
    """The current result of a read of a feature's registration. The type is in small letters, and the only one
    that is.
    """
    feature = f"{path['providerNamespace']}/{path['featureName']}"
    record = _registration(cloud, feature)
    return {
        "name": path["featureName"],
        "type": FEATURE_REGISTRATION.arm_type.lower(),
        "azureApiVersion": FEATURE_REGISTRATION.api_version,
        "properties": {
            "approvalType": "AutoApproval",
            "featureName": path["featureName"],
            "providerNamespace": path["providerNamespace"],
            "releaseDate": _RELEASED,
            "shouldFeatureDisplayInPortal": False,
            "subscriptionId": cloud.subscription.subscription_id,
            "state": state(cloud, feature),
            **({"registrationDate": stamp(float(record.details["registeredAt"]))} if record else {}),
        },
    }


def _path(cloud: Cloud, provider_namespace: str, feature: str) -> dict[str, str]:
    return {
        "subscriptionId": cloud.subscription.subscription_id,
        "providerNamespace": provider_namespace,
        "featureName": feature,
    }


def _registration(cloud: Cloud, feature: str) -> Record | None:
    provider_namespace, _, name = feature.partition("/")
    return cloud.store.get(naming.resource_id(_PATH, _path(cloud, provider_namespace, name)))


def _refuse(cloud: Cloud, request: Request) -> None:
    state(cloud, f"{request.path['providerNamespace']}/{request.path['featureName']}")
    raise AlreadyExistsError(
        request.id,
        because="Azure answers a GET of every feature, registered or not, so azure-native can never create this type "
        "(pulumi-azure-native issue 1722). Register the feature with a template that "
        "azure-native:resources:DeploymentAtSubscriptionScope deploys, or with `az feature register`",
    )


def _render(cloud: Cloud, request: Request) -> dict[str, Any]:
    return outputs(cloud, dict(request.path))


FEATURE_REGISTRATION: Final = Kind(
    pulumi_type="azure-native:features:SubscriptionFeatureRegistration",
    arguments=features.SubscriptionFeatureRegistrationArgs,
    resource=features.SubscriptionFeatureRegistration,
    arm_type="Microsoft.Features/featureProviders/subscriptionFeatureRegistrations",
    path=_PATH,
    naming="copy",
    name_rule=naming.FEATURE,
    location=False,
    refuse_create=_refuse,
    render=_render,
)
