"""The subscription feature that makes AKS put a pool's InfiniBand machines on one fabric, and the reverse of it.

A template deployment registers the feature, because azure-native's own SubscriptionFeatureRegistration can never be
created: Azure answers a GET of every feature, registered or not, which azure-native takes for a resource that exists
(pulumi-azure-native issue 1722). A deployment registers the feature whatever its state was before, and does not wait
until that is done; the wait is here. AKS knows of the feature, and of its absence, once its resource provider has been
registered again after it: so does what pools wait for here.

On GB200 and GB300 the machines of a rack share an NVLink domain, and AKS places them itself: the feature must not be
registered (AKS InfiniBand guide, Azure/aks-rdma-infiniband). This program never unregisters the feature: other
clusters of the subscription may need it.
"""

import asyncio
import time
from dataclasses import dataclass, field
from typing import Annotated, Final

import pulumi
from pulumi_azure_native import resources
from pydantic import AfterValidator

from aks_infiniband import diagnosis
from aks_infiniband.azure.arguments import Tags
from aks_infiniband.azure.asking import ask
from aks_infiniband.azure.provider_registration import PROVIDER_NAMESPACE, provider_registration
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.resources.options import Waits, child_options

FEATURE_NAME: Final = "AKSInfinibandSupport"
_TEMPLATE: Final = {
    "$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#",
    "contentVersion": "1.0.0.0",
    "resources": [
        {
            "type": "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations",
            "apiVersion": "2021-07-01",
            "name": f"{PROVIDER_NAMESPACE}/{FEATURE_NAME}",
            "properties": {},
        }
    ],
}
ABSENT: Final = ("NotRegistered", "Unregistered", "NotSpecified")
"""States in which AKS behaves as without the feature (Azure, "Set up preview features", registration states)."""
_FAILED_LOOKS: Final = 3
"""The wait ends after this number of failed looks in a row."""
_ABSENT_LOOKS: Final = 12
"""The wait ends after this number of looks in a row that find no registration. The deployment's registration shows at
once, so by then the feature was unregistered by other means.
"""


class FeatureRegistrationError(pulumi.RunError):
    """The feature did not become Registered. The text names subscription, state and the next command."""


class FeaturePresentError(pulumi.RunError):
    """The feature is registered or being registered. The text names subscription, state and the next command."""


@dataclass(frozen=True, kw_only=True)
class FeatureRegistrationArgs:
    """The arguments of a FeatureRegistration."""

    location: Annotated[str, AfterValidator(rules.region_name)]
    """Azure region in which Azure keeps the record of the deployment; the feature itself has none."""
    waits: Waits = Waits()  # noqa: RUF009  frozen
    """The pause between looks at its state, and the limit for the registration."""
    tags: Tags = field(default_factory=dict)
    """Tags of the deployment that registers it."""

    def __post_init__(self) -> None:
        """Raises ValueError for what Azure does not take."""
        keep_rules(self)


class FeatureRegistration(pulumi.ComponentResource):
    """AKSInfinibandSupport, Registered in the subscription, and AKS told of it.

    The registration belongs to the subscription, not to the stack: destroying the stack leaves it registered, for every
    other cluster that lives there. A pool that is made before it is Registered gets machines on different fabrics,
    without any error.
    """

    registered: pulumi.Output[pulumi.Resource]
    """For depends_on of what must not exist before: known once the feature is Registered, and AKS's resource provider
    after it. At preview nothing is waited for."""

    def __init__(self, name: str, *, args: FeatureRegistrationArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:FeatureRegistration", name, None, opts)
        self._args = args
        self._deployment: pulumi.CustomResource = resources.DeploymentAtSubscriptionScope(
            f"{name}-infiniband-feature",
            # No name: azure-native makes a new one for every deployment, and a name keeps its location for ever.
            location=args.location,
            tags=dict(args.tags) or None,
            properties=resources.DeploymentPropertiesArgs(
                mode=resources.DeploymentMode.INCREMENTAL, template=_TEMPLATE
            ),
            # Nothing is retained on delete: Azure leaves in place what a deleted deployment had deployed.
            opts=child_options(self, opts, replace_on_changes=["location"], hooks=diagnosis.azure_operation()),
        )
        self.registered = provider_registration(self, name, told=self._deployment.id.apply(self._wait), opts=opts)
        self.register_outputs({})

    async def _wait(self, deployment_id: str) -> str:
        """Azure answers a registration at once, in state Registering; so look until it is Registered.

        Returns the deployment's ID, which is another for another registration.
        """
        if pulumi.runtime.is_dry_run():
            return deployment_id
        subscription = deployment_id.split("/")[2]
        start = time.monotonic()
        deadline = start + self._args.waits.timeout_seconds
        state, failures, absent = "", 0, 0
        while state != "Registered":
            previous = state
            try:
                _, state = await feature_state(self)
                failures = 0
            except Exception as error:
                failures += 1
                if failures == _FAILED_LOOKS:
                    raise FeatureRegistrationError(
                        f"feature {FEATURE_NAME} of subscription {subscription} cannot be looked at: {error}"
                    ) from error
            waited = round(time.monotonic() - start)
            if state != previous:
                said = f"feature {FEATURE_NAME} of subscription {subscription}: {state} after {waited} s"
                pulumi.log.info(said, self._deployment)
            if state != "Registered":
                absent = absent + 1 if state in ABSENT else 0
                if absent == _ABSENT_LOOKS or time.monotonic() >= deadline:
                    raise FeatureRegistrationError(_late(subscription, state, waited))
                await asyncio.sleep(self._args.waits.poll_seconds)
        return deployment_id


@dataclass(frozen=True, kw_only=True)
class FeatureAbsenceArgs:
    """The arguments of a FeatureAbsence: only its options. The subscription is the provider's."""


class FeatureAbsence(pulumi.ComponentResource):
    """AKSInfinibandSupport, not registered in the subscription, and AKS told of it.

    The program looks once, at preview too, and does not wait.
    """

    absent: pulumi.Output[pulumi.Resource]
    """For depends_on of the pools that must not exist otherwise; fails with FeaturePresentError."""

    def __init__(self, name: str, *, args: FeatureAbsenceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:FeatureAbsence", name, None, opts)
        del args
        told: pulumi.Output[str] = pulumi.Output.from_input(self._subscription())
        self.absent = provider_registration(self, name, told=told, opts=opts)
        self.register_outputs({})

    async def _subscription(self) -> str:
        subscription, state = await feature_state(self)
        if state not in ABSENT:
            raise FeaturePresentError(unwanted(subscription, state))
        return f"/subscriptions/{subscription}"


async def feature_state(parent: pulumi.Resource) -> tuple[str, str]:
    """ID of the subscription, and the feature's state there now, such as Pending, Registering or Registered.

    parent: the resource that calls, and whose provider is used.
    """
    answer = await ask(
        "features:getSubscriptionFeatureRegistration",
        parent,
        featureName=FEATURE_NAME,
        providerNamespace=PROVIDER_NAMESPACE,
    )
    return answer["id"].split("/")[2], answer["properties"].get("state") or "NotSpecified"


def _late(subscription: str, state: str, waited: int) -> str:
    advice = {
        "Pending": "Microsoft must approve it: request it in Azure's portal, Preview features; then `pulumi up` again.",
        "Registering": "That usually takes about 10 minutes: run `pulumi up` again, which continues to wait.",
    }
    otherwise = (
        "Register it by hand, then run `pulumi up` again: az feature register --subscription "
        f"{subscription} --namespace {PROVIDER_NAMESPACE} --name {FEATURE_NAME}"
    )
    return (
        f"feature {PROVIDER_NAMESPACE}/{FEATURE_NAME} of subscription {subscription} is {state} after {waited} s; it "
        f"must be Registered before an InfiniBand pool is made. {advice.get(state, otherwise)}"
    )


def unwanted(subscription: str, state: str) -> str:
    """The remedy if the feature is registered and must not be."""
    command = f"--subscription {subscription} --namespace {PROVIDER_NAMESPACE}"
    return (
        f"feature {PROVIDER_NAMESPACE}/{FEATURE_NAME} of subscription {subscription} is {state}; it must not be "
        "registered when a pool of GB200 or GB300 machines is made. Use another subscription for them, or, if nothing "
        f"else in this one needs it: az feature unregister {command} --name {FEATURE_NAME}, then az provider register "
        f"{command}, and `pulumi up` again once `az feature show` says Unregistered."
    )
