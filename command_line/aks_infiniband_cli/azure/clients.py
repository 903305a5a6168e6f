"""Azure's maintained clients of one subscription."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from azure.core.credentials import TokenCredential
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient
from azure.mgmt.network import NetworkManagementClient
from azure.mgmt.resource.features import FeatureClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.resource.subscriptions import SubscriptionClient

from aks_infiniband_cli.azure.answered import RefuseOdd
from aks_infiniband_cli.azure.rehearsed import Rehearsed


class Clients:
    """The clients of a subscription, each made when it is first used.

    endpoint: of Resource Manager, such as https://management.azure.com. more: further arguments of each client.
    """

    def __init__(self, credential: TokenCredential, endpoint: str, subscription_id: str, **more: Any) -> None:
        self.subscription_id = subscription_id
        self._credential = credential
        self._scope = f"{endpoint}/.default"
        self._of_all: dict[str, Any] = {
            "credential": credential,
            "base_url": endpoint,
            "credential_scopes": [self._scope],
            "per_call_policies": [RefuseOdd()],
            **more,
        }
        if isinstance(credential, Rehearsed):
            self._of_all["connection_verify"] = credential.certificate_authority

    @property
    def _given(self) -> Mapping[str, Any]:
        return {**self._of_all, "subscription_id": self.subscription_id}

    def token(self) -> str:
        """The token that the clients send."""
        return self._credential.get_token(self._scope).token

    @cached_property
    def authorization(self) -> AuthorizationManagementClient:
        """Roles, their assignments, and permissions."""
        return AuthorizationManagementClient(**self._given)

    @cached_property
    def aks(self) -> ContainerServiceClient:
        """Clusters, agent pools and their machines."""
        return ContainerServiceClient(**self._given)

    @cached_property
    def compute(self) -> ComputeManagementClient:
        """Machines, sizes and quotas."""
        return ComputeManagementClient(**self._given)

    @cached_property
    def features(self) -> FeatureClient:
        """Preview features."""
        return FeatureClient(**self._given)

    @cached_property
    def resources(self) -> ResourceManagementClient:
        """Resource groups, their resources, and providers."""
        return ResourceManagementClient(**self._given)

    @cached_property
    def subscriptions(self) -> SubscriptionClient:
        """The subscription itself."""
        return SubscriptionClient(**self._of_all)

    def networks(self, subscription_id: str | None = None) -> NetworkManagementClient:
        """Virtual networks. subscription_id: default: this one."""
        return NetworkManagementClient(**{**self._given, "subscription_id": subscription_id or self.subscription_id})
