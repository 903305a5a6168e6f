"""RDMA-ready AKS clusters as Pulumi components.

Names are loaded when they are first used: whoever wants the catalogue alone does not pay for Pulumi's packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aks_infiniband.access.kubeconfig_file import read_kubeconfig
    from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
    from aks_infiniband.azure.feature import (
        FeatureAbsence,
        FeatureAbsenceArgs,
        FeatureRegistration,
        FeatureRegistrationArgs,
    )
    from aks_infiniband.azure.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
    from aks_infiniband.azure.ordinary_pool import OrdinaryNodePool, OrdinaryNodePoolArgs
    from aks_infiniband.facts.catalog import SIZES, MachineSize, described
    from aks_infiniband.facts.pool import Pool
    from aks_infiniband.hosts.node_preparation import NodePreparation, NodePreparationArgs
    from aks_infiniband.hosts.peermem import PeermemLoader, PeermemLoaderArgs
    from aks_infiniband.operators.gpu_operator import GpuOperator, GpuOperatorArgs
    from aks_infiniband.operators.ipoib import IpoibNetwork, IpoibNetworkArgs
    from aks_infiniband.operators.network_operator import NetworkOperator, NetworkOperatorArgs
    from aks_infiniband.operators.nic_policy import (
        NicClusterPolicy,
        NicClusterPolicyArgs,
        NicNodePolicy,
        NicNodePolicyArgs,
    )
    from aks_infiniband.operators.upgrades import DriverUpgrade
    from aks_infiniband.resources.registry import Registry, RegistryCredentials, RegistryCredentialsArgs
    from aks_infiniband.stack.rdma_cluster import RdmaCluster, RdmaClusterArgs
    from aks_infiniband.stack.settings import Settings, SettingsError, load, registry_credentials, stack_configuration
    from aks_infiniband.validation import Validation, ValidationArgs, ValidationOptions, Waits
    from aks_infiniband.workload.environment import nccl_environment
    from aks_infiniband.workload.pods import pod_template_fragment
    from aks_infiniband.workload.sample_job import sample_job
    from aks_infiniband.workload.settings import WorkloadSettings, WorkloadSettingsArgs
    from aks_infiniband.workload.topology import nccl_topology

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
    "ValidationOptions",
    "Waits",
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
    "SIZES": "facts.catalog",
    "MachineSize": "facts.catalog",
    "described": "facts.catalog",
    "Settings": "stack.settings",
    "SettingsError": "stack.settings",
    "load": "stack.settings",
    "registry_credentials": "stack.settings",
    "stack_configuration": "stack.settings",
    "Pool": "facts.pool",
    "AksCluster": "azure.cluster",
    "read_kubeconfig": "access.kubeconfig_file",
    "FeatureAbsence": "azure.feature",
    "FeatureRegistration": "azure.feature",
    "InfinibandNodePool": "azure.node_pool",
    "OrdinaryNodePool": "azure.ordinary_pool",
    "Registry": "resources.registry",
    "RegistryCredentials": "resources.registry",
    "NetworkOperator": "operators.network_operator",
    "NicClusterPolicy": "operators.nic_policy",
    "NicNodePolicy": "operators.nic_policy",
    "IpoibNetwork": "operators.ipoib",
    "GpuOperator": "operators.gpu_operator",
    "DriverUpgrade": "operators.upgrades",
    "NodePreparation": "hosts.node_preparation",
    "PeermemLoader": "hosts.peermem",
    "WorkloadSettings": "workload.settings",
    "pod_template_fragment": "workload.pods",
    "nccl_environment": "workload.environment",
    "nccl_topology": "workload.topology",
    "sample_job": "workload.sample_job",
    "Validation": "validation",
    "ValidationOptions": "validation",
    "Waits": "validation",
    "RdmaCluster": "stack.rdma_cluster",
}
"""Where each name lives; a component's arguments live beside it."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name) or _MODULES[name.removesuffix("Args")]
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
