"""The stack's configuration as typed values: validated once, at the door; components trust them."""

from aks_infiniband.stack.settings.cluster import (
    AccessSettings,
    ApiServerSettings,
    ClusterSettings,
    ExistingClusterSettings,
    NetworkSettings,
    SystemPoolSettings,
)
from aks_infiniband.stack.settings.load import load
from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.operators import (
    ChartSettings,
    GpuOperatorSettings,
    IpoibSettings,
    NetworkOperatorSettings,
    Readiness,
    RegistrySettings,
    UpgradeSettings,
    ValidationSettings,
    WorkloadNamespaces,
)
from aks_infiniband.stack.settings.pools import AutoscaleSettings, DescribedSize, PoolSettings
from aks_infiniband.stack.settings.stack import registry_credentials, stack_configuration

__all__ = [
    "AccessSettings",
    "ApiServerSettings",
    "AutoscaleSettings",
    "ChartSettings",
    "ClusterSettings",
    "DescribedSize",
    "ExistingClusterSettings",
    "GpuOperatorSettings",
    "IpoibSettings",
    "Mistake",
    "NetworkOperatorSettings",
    "NetworkSettings",
    "PoolSettings",
    "Readiness",
    "RegistrySettings",
    "Settings",
    "SettingsError",
    "SystemPoolSettings",
    "UpgradeSettings",
    "ValidationSettings",
    "WorkloadNamespaces",
    "load",
    "registry_credentials",
    "stack_configuration",
]
