"""RDMA-ready AKS clusters as Pulumi components.

Names are loaded when they are first used: whoever wants the catalogue alone does not pay for Pulumi's packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aks_infiniband.aks import AksCluster, AksClusterArgs
    from aks_infiniband.feature_registration import FeatureRegistration, FeatureRegistrationArgs
    from aks_infiniband.gpu_operator import GpuOperator, GpuOperatorArgs
    from aks_infiniband.network_operator import NetworkOperator, NetworkOperatorArgs
    from aks_infiniband.nic_policy import NicClusterPolicy, NicClusterPolicyArgs
    from aks_infiniband.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
    from aks_infiniband.pool import Pool
    from aks_infiniband.rdma_cluster import RdmaCluster, RdmaClusterArgs
    from aks_infiniband.settings import Settings, SettingsError, load, stack_configuration
    from aks_infiniband.validation import Validation, ValidationArgs
    from aks_infiniband.workload import WorkloadSettings, WorkloadSettingsArgs

__all__ = [
    "AksCluster",
    "AksClusterArgs",
    "FeatureRegistration",
    "FeatureRegistrationArgs",
    "GpuOperator",
    "GpuOperatorArgs",
    "InfinibandNodePool",
    "InfinibandNodePoolArgs",
    "NetworkOperator",
    "NetworkOperatorArgs",
    "NicClusterPolicy",
    "NicClusterPolicyArgs",
    "Pool",
    "RdmaCluster",
    "RdmaClusterArgs",
    "Settings",
    "SettingsError",
    "Validation",
    "ValidationArgs",
    "WorkloadSettings",
    "WorkloadSettingsArgs",
    "load",
    "stack_configuration",
]

_MODULES: Final = {
    "Settings": "settings",
    "SettingsError": "settings",
    "load": "settings",
    "stack_configuration": "settings",
    "Pool": "pool",
    "AksCluster": "aks",
    "FeatureRegistration": "feature_registration",
    "InfinibandNodePool": "node_pool",
    "NetworkOperator": "network_operator",
    "NicClusterPolicy": "nic_policy",
    "GpuOperator": "gpu_operator",
    "WorkloadSettings": "workload",
    "Validation": "validation",
    "RdmaCluster": "rdma_cluster",
}
"""Where each name lives; a component's arguments live beside it."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name) or _MODULES[name.removesuffix("Args")]
    return getattr(import_module(f"{__name__}.{module}"), name)
