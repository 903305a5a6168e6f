"""RDMA-ready AKS clusters as Pulumi components.

Names are loaded when they are first used: whoever wants the catalogue alone does not pay for Pulumi's packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aks_infiniband.aks import AksCluster, AksClusterArgs
    from aks_infiniband.catalog import SIZES, MachineSize, described
    from aks_infiniband.existing_cluster import read_kubeconfig
    from aks_infiniband.feature_registration import (
        FeatureAbsence,
        FeatureAbsenceArgs,
        FeatureRegistration,
        FeatureRegistrationArgs,
    )
    from aks_infiniband.gpu_operator import GpuOperator, GpuOperatorArgs
    from aks_infiniband.ipoib import IpoibNetwork, IpoibNetworkArgs
    from aks_infiniband.network_operator import NetworkOperator, NetworkOperatorArgs
    from aks_infiniband.nic_policy import NicClusterPolicy, NicClusterPolicyArgs, NicNodePolicy, NicNodePolicyArgs
    from aks_infiniband.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
    from aks_infiniband.node_preparation import NodePreparation, NodePreparationArgs
    from aks_infiniband.ordinary_pool import OrdinaryNodePool, OrdinaryNodePoolArgs
    from aks_infiniband.peermem import PeermemLoader, PeermemLoaderArgs
    from aks_infiniband.pool import Pool
    from aks_infiniband.rdma_cluster import RdmaCluster, RdmaClusterArgs
    from aks_infiniband.registry import Registry, RegistryCredentials, RegistryCredentialsArgs
    from aks_infiniband.settings import Settings, SettingsError, load, registry_credentials, stack_configuration
    from aks_infiniband.topology import nccl_topology
    from aks_infiniband.upgrades import DriverUpgrade
    from aks_infiniband.validation import Validation, ValidationArgs
    from aks_infiniband.workload import pod_template_fragment
    from aks_infiniband.workload_environment import nccl_environment
    from aks_infiniband.workload_sample import sample_job
    from aks_infiniband.workload_settings import WorkloadSettings, WorkloadSettingsArgs

__all__ = [
    "SIZES",
    "AksCluster",
    "AksClusterArgs",
    "DriverUpgrade",
    "FeatureAbsence",
    "FeatureAbsenceArgs",
    "FeatureRegistration",
    "FeatureRegistrationArgs",
    "GpuOperator",
    "GpuOperatorArgs",
    "InfinibandNodePool",
    "InfinibandNodePoolArgs",
    "IpoibNetwork",
    "IpoibNetworkArgs",
    "MachineSize",
    "NetworkOperator",
    "NetworkOperatorArgs",
    "NicClusterPolicy",
    "NicClusterPolicyArgs",
    "NicNodePolicy",
    "NicNodePolicyArgs",
    "NodePreparation",
    "NodePreparationArgs",
    "OrdinaryNodePool",
    "OrdinaryNodePoolArgs",
    "PeermemLoader",
    "PeermemLoaderArgs",
    "Pool",
    "RdmaCluster",
    "RdmaClusterArgs",
    "Registry",
    "RegistryCredentials",
    "RegistryCredentialsArgs",
    "Settings",
    "SettingsError",
    "Validation",
    "ValidationArgs",
    "WorkloadSettings",
    "WorkloadSettingsArgs",
    "described",
    "load",
    "nccl_environment",
    "nccl_topology",
    "pod_template_fragment",
    "read_kubeconfig",
    "registry_credentials",
    "sample_job",
    "stack_configuration",
]

_MODULES: Final = {
    "SIZES": "catalog",
    "MachineSize": "catalog",
    "described": "catalog",
    "Settings": "settings",
    "SettingsError": "settings",
    "load": "settings",
    "registry_credentials": "settings",
    "stack_configuration": "settings",
    "Pool": "pool",
    "AksCluster": "aks",
    "read_kubeconfig": "existing_cluster",
    "FeatureAbsence": "feature_registration",
    "FeatureRegistration": "feature_registration",
    "InfinibandNodePool": "node_pool",
    "OrdinaryNodePool": "ordinary_pool",
    "Registry": "registry",
    "RegistryCredentials": "registry",
    "NetworkOperator": "network_operator",
    "NicClusterPolicy": "nic_policy",
    "NicNodePolicy": "nic_policy",
    "IpoibNetwork": "ipoib",
    "GpuOperator": "gpu_operator",
    "DriverUpgrade": "upgrades",
    "NodePreparation": "node_preparation",
    "PeermemLoader": "peermem",
    "WorkloadSettings": "workload_settings",
    "pod_template_fragment": "workload",
    "nccl_environment": "workload_environment",
    "nccl_topology": "topology",
    "sample_job": "workload_sample",
    "Validation": "validation",
    "RdmaCluster": "rdma_cluster",
}
"""Where each name lives; a component's arguments live beside it."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name) or _MODULES[name.removesuffix("Args")]
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
