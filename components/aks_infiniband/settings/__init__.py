"""The stack's configuration as typed values: validated once, at the door; components trust them."""

from aks_infiniband.settings.cluster import (
    AccessSettings,
    ApiServerSettings,
    ClusterSettings,
    ExistingClusterSettings,
    NetworkSettings,
    SystemPoolSettings,
)
from aks_infiniband.settings.load import load
from aks_infiniband.settings.mistakes import Mistake, SettingsError
from aks_infiniband.settings.model import Settings
from aks_infiniband.settings.operators import (
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
from aks_infiniband.settings.pools import AutoscaleSettings, DescribedSize, PoolSettings
from aks_infiniband.settings.stack import registry_credentials, stack_configuration

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
