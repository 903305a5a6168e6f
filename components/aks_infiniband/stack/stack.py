"""A stack whose settings are all resolved, and the arguments of every component that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pulumi

from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import Release
from aks_infiniband.hosts.dranet import DranetArgs
from aks_infiniband.hosts.image_pull import ImagePull
from aks_infiniband.hosts.node_preparation import NodePreparationArgs, to_prepare
from aks_infiniband.hosts.peermem import PeermemLoaderArgs, peermem_pools
from aks_infiniband.hosts.toolkit_hardening import ToolkitHardeningArgs, unhardened
from aks_infiniband.light_check import LightCheckArgs
from aks_infiniband.observability import ObservabilityArgs
from aks_infiniband.operators.amd_gpu_operator import AmdGpuOperatorArgs, AmdOptions, is_amd_pool
from aks_infiniband.operators.cert_manager import CertManagerArgs
from aks_infiniband.operators.charts import ChartSource
from aks_infiniband.operators.device_config import DeviceConfigArgs
from aks_infiniband.operators.dra_driver import DraDriverArgs
from aks_infiniband.operators.existing_gpu_operator import ExistingGpuOperatorArgs
from aks_infiniband.operators.existing_network_operator import ExistingNetworkOperatorArgs
from aks_infiniband.operators.gpu_operator import GpuOperatorArgs
from aks_infiniband.operators.ipoib import IpoibNetworkArgs, Network
from aks_infiniband.operators.network_operator import NetworkOperatorArgs
from aks_infiniband.operators.nic_policy import NicClusterPolicyArgs, NicNodePolicyArgs, NicPolicySpecs
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.options import Waits
from aks_infiniband.resources.registry import Registry
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.validation import ValidationAccess, ValidationAccessArgs, ValidationArgs, ValidationOptions
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.validation_job import pod_images
from aks_infiniband.workload.guard import WorkloadGuardArgs
from aks_infiniband.workload.pods import NAMESPACE
from aks_infiniband.workload.pool_topology import PoolTopologyArgs
from aks_infiniband.workload.settings import WorkloadSettingsArgs

Kubeconfig = pulumi.Input[str]


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One of the operators."""

    chart: ChartSource
    given: Mapping[str, Any]
    """The Helm values that people give."""
    values: Mapping[str, Any]
    """Those and what follows from the stack."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack file, resolved; `load` makes it.

    Methods give the arguments of components; kubeconfig is that of the cluster, and explains a failed wait.
    """

    cluster: AzureClusterArgs | KubeconfigFile
    """The cluster that is made, with its pools, or what reaches one that is there already."""
    pools: Sequence[Pool]
    """Those with InfiniBand, in the file's order."""
    release: Release
    """Of both operators."""
    registry: Registry
    """Where images come from."""
    registry_credentials: pulumi.Input[str] | None
    """A docker config (JSON) with which images are pulled; None where the registry asks for none."""
    network: Operator | None
    """The Network Operator; None if others keep one."""
    network_options: OperatorOptions
    """What it does alike for all pools."""
    gpu: Operator | None
    """The GPU Operator; None where no pool has GPUs that it manages, and where somebody else keeps one."""
    dra: Operator | None
    """NVIDIA's DRA driver for GPUs; None where no pool's machines share an NVLink domain."""
    gpu_operator_exists: bool
    """Whether the cluster has a GPU Operator that somebody else keeps."""
    hardens_toolkit: bool
    """Whether containers without privileges get no GPUs by a variable, where the toolkit is AKS's."""
    amd: Operator | None
    """AMD's GPU Operator; None where no pool has GPUs that it manages."""
    amd_options: AmdOptions
    """What it does alike for all pools."""
    cert_manager: Operator | None
    """cert-manager; None where nothing needs it, and where somebody else keeps one."""
    policies: NicPolicySpecs
    """What the Network Operator puts on which nodes."""
    networks: Sequence[Network]
    """Those of the pools in mode ipoib."""
    topologies: Mapping[str, str]
    """By pool, the content of an NCCL topology file that takes the place of the generated one."""
    namespaces: Sequence[str]
    """Where workloads find their settings; the first is made."""
    create_namespaces: bool
    """Whether the others are made too, where they are not there."""
    workloads_pull: bool
    """Whether those namespaces get the registry's credentials."""
    images: Mapping[str, Sequence[str]]
    """By pool, those of its workloads, to be pulled while drivers are installed."""
    memlock: bool
    """Whether all nodes are prepared, and the memlock limit of their pods is lifted."""
    waits: Waits
    """How long is waited."""
    validation: ValidationOptions
    """How pools are validated."""
    preflight: bool
    """Whether the program checks first what Azure would refuse; no component reads it."""
    observability: ObservabilityArgs | None
    """For an Observability, but for the kubeconfig; None where it is not asked for."""
    revalidate_when: Mapping[str, Mapping[str, Any]]
    """By pool, what a validation depends on beside the pool."""
    pool_topologies: Sequence[PoolTopologyArgs] = ()
    """What a scheduler is told, one for each pool; empty where none is."""
    check_schedule: str | None = None
    """When idle nodes are checked, in cron's five fields; None: never."""

    @property
    def existing(self) -> KubeconfigFile | None:
        """The kubeconfig of a cluster that exists already; None for a cluster that is made."""
        return self.cluster if isinstance(self.cluster, KubeconfigFile) else None

    def network_operator(self, kubeconfig: Kubeconfig) -> NetworkOperatorArgs | None:
        """For a NetworkOperator; None if others keep one."""
        if self.network is None:
            return None
        return NetworkOperatorArgs(**self._operator(self.network, kubeconfig), release=self.release)

    def existing_network_operator(self, kubeconfig: Kubeconfig) -> ExistingNetworkOperatorArgs | None:
        """For an ExistingNetworkOperator; None if no others keep one."""
        wait = {"poll_seconds": self.waits.poll_seconds, **self._wait(kubeconfig)}
        return ExistingNetworkOperatorArgs(policies=self.policies, **wait) if self.network is None else None

    def gpu_operator(self, kubeconfig: Kubeconfig) -> GpuOperatorArgs | None:
        """For a GpuOperator; None where there is nothing for it to do."""
        return None if self.gpu is None else GpuOperatorArgs(**self._operator(self.gpu, kubeconfig))

    def dra_driver(self, kubeconfig: Kubeconfig) -> DraDriverArgs | None:
        """For a DraDriver; None where there is nothing for it to do."""
        return None if self.dra is None else DraDriverArgs(**self._operator(self.dra, kubeconfig))

    def existing_gpu_operator(self, kubeconfig: Kubeconfig) -> ExistingGpuOperatorArgs | None:
        """For an ExistingGpuOperator; None where nobody else keeps one."""
        wait = {"poll_seconds": self.waits.poll_seconds, **self._wait(kubeconfig)}
        return ExistingGpuOperatorArgs(pools=self.pools, **wait) if self.gpu_operator_exists else None

    def amd_gpu_operator(self, kubeconfig: Kubeconfig) -> AmdGpuOperatorArgs | None:
        """For an AmdGpuOperator; None where there is nothing for it to do."""
        return None if self.amd is None else AmdGpuOperatorArgs(**self._operator(self.amd, kubeconfig))

    def device_configs(self, kubeconfig: Kubeconfig) -> dict[str, DeviceConfigArgs]:
        """For DeviceConfigs, by pool; empty where no pool has GPUs of AMD that are managed."""
        pools, wait = filter(is_amd_pool, self.pools), self._wait(kubeconfig)
        return {pool.name: DeviceConfigArgs(pool=pool, options=self.amd_options, **wait) for pool in pools}

    def cert_manager_args(self, kubeconfig: Kubeconfig) -> CertManagerArgs | None:
        """For a CertManager; None where none is to be made."""
        return None if self.cert_manager is None else CertManagerArgs(**self._operator(self.cert_manager, kubeconfig))

    def _operator(self, operator: Operator, kubeconfig: Kubeconfig) -> dict[str, Any]:
        shared = {"pools": self.pools, "registry_credentials": self.registry_credentials, **self._wait(kubeconfig)}
        return {"chart": operator.chart, "values": operator.values, **shared}

    def _wait(self, kubeconfig: Kubeconfig) -> dict[str, Any]:
        return {"timeout_seconds": self.waits.timeout_seconds, "kubeconfig": kubeconfig}

    def cluster_policy(self, kubeconfig: Kubeconfig) -> NicClusterPolicyArgs:
        """For the NicClusterPolicy."""
        return NicClusterPolicyArgs(policies=self.policies, **self._wait(kubeconfig))

    def node_policies(self, kubeconfig: Kubeconfig) -> dict[str, NicNodePolicyArgs]:
        """For NicNodePolicies, by pool; empty where all pools agree."""
        wait = self._wait(kubeconfig)
        return {name: NicNodePolicyArgs(pool_name=name, policies=self.policies, **wait) for name in self.policies.nodes}

    def ipoib_networks(self, kubeconfig: Kubeconfig) -> dict[str, IpoibNetworkArgs]:
        """For IpoibNetworks, by the network's name; empty where no pool is in mode ipoib."""
        wait = self._wait(kubeconfig)
        return {each.name: IpoibNetworkArgs(network=each, namespace=NAMESPACE, **wait) for each in self.networks}

    def node_preparation(self, kubeconfig: Kubeconfig) -> NodePreparationArgs | None:
        """For a NodePreparation; None where it is not asked for, and every pool's driver loads its modules itself."""
        pools = to_prepare(self.pools, asked_for=self.memlock)
        return NodePreparationArgs(memlock=self.memlock, **self._daemon(pools, kubeconfig)) if pools else None

    def dranet(self, kubeconfig: Kubeconfig) -> DranetArgs | None:
        """For a Dranet; None where no pool is in mode dra."""
        pools = [pool for pool in self.pools if pool.access.claims]
        return DranetArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def peermem(self, kubeconfig: Kubeconfig) -> PeermemLoaderArgs | None:
        """For a PeermemLoader; None where no pool has a GPU driver of AKS beside OFED."""
        pools = peermem_pools(self.pools)
        return PeermemLoaderArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def toolkit_hardening(self, kubeconfig: Kubeconfig) -> ToolkitHardeningArgs | None:
        """For a ToolkitHardening; None where no pool has a container toolkit of AKS, or somebody else keeps it."""
        pools = unhardened(self.pools) if self.hardens_toolkit and not self.gpu_operator_exists else []
        return ToolkitHardeningArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def _daemon(self, pools: Sequence[Pool], kubeconfig: Kubeconfig) -> dict[str, Any]:
        return {"pools": pools, "namespace": SYSTEM_NAMESPACE, "registry": self.registry, **self._wait(kubeconfig)}

    def workload_guard(self) -> WorkloadGuardArgs | None:
        """For a WorkloadGuard; None where pods are privileged, as those of a pool in mode driver-only."""
        return None if any(pool.access.privileged for pool in self.pools) else WorkloadGuardArgs()

    def image_pulls(self) -> list[ImagePull]:
        """One for all pools that want the same images. A pool whose validation needs a small image only gets none."""
        measured = self.validation.mode != "off"
        wanted: dict[tuple[str, ...], list[Pool]] = {}
        for pool in self.pools:
            first = pod_images(pool, self.validation) if measured and pool.gpu_resource else ()
            wanted.setdefault(tuple(dict.fromkeys([*first, *self.images[pool.name]])), []).append(pool)
        return [ImagePull(pools=of, images=images, registry=self.registry) for images, of in wanted.items() if images]

    def workload_settings(self) -> WorkloadSettingsArgs:
        """For WorkloadSettings."""
        return WorkloadSettingsArgs(pools=self.pools, namespaces=self.namespaces, topologies=self.topologies)

    @property
    def workload_registry(self) -> Registry:
        """Where workloads' images come from, with the Secret only where their namespaces have it."""
        return replace(self.registry, pull_secret=self.registry.pull_secret if self.workloads_pull else None)

    def validation_access(self) -> ValidationAccessArgs:
        """For the ValidationAccess of all validations."""
        expected = [expected_of(pool, self.validation, node_preparation=self.memlock) for pool in self.pools]
        return ValidationAccessArgs(pools=self.pools, topologies=self.topologies, expected=expected)

    def light_check(self) -> LightCheckArgs | None:
        """For a LightCheck; None where it is not asked for."""
        if self.check_schedule is None:
            return None
        return LightCheckArgs(
            pools=self.pools,
            schedule=self.check_schedule,
            thresholds=self.validation.thresholds,
            error_counters=self.validation.error_counters,
            registry=self.registry,
        )

    def validation_of(
        self, pool: Pool, kubeconfig: Kubeconfig, *, access: ValidationAccess | None = None
    ) -> ValidationArgs:
        """For the Validation of a pool; access is what all of them share."""
        return ValidationArgs(
            access=access,
            pool=pool,
            options=self.validation,
            waits=self.waits,
            registry=self.registry,
            node_preparation=self.memlock,
            kubeconfig=kubeconfig,
            revalidate_when=self.revalidate_when[pool.name],
        )
