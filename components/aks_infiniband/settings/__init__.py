"""The stack's configuration as typed values: validated once, at the door; components trust them."""

from aks_infiniband.settings.load import Mistake, SettingsError, load, stack_configuration
from aks_infiniband.settings.model import (
    ChartSettings,
    ClusterSettings,
    GpuOperatorSettings,
    NetworkOperatorSettings,
    NetworkSettings,
    PoolSettings,
    Readiness,
    Settings,
    SystemPoolSettings,
    ValidationSettings,
)

__all__ = [
    "ChartSettings",
    "ClusterSettings",
    "GpuOperatorSettings",
    "Mistake",
    "NetworkOperatorSettings",
    "NetworkSettings",
    "PoolSettings",
    "Readiness",
    "Settings",
    "SettingsError",
    "SystemPoolSettings",
    "ValidationSettings",
    "load",
    "stack_configuration",
]
