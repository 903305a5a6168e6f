"""A stack: the settings as they are written, what is made of them, and the arguments of every component."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self, TypeVar

import pulumi

from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import KubeconfigFile, read_kubeconfig
from aks_infiniband.azure.feature import FeatureRegistrationArgs
from aks_infiniband.facts import rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.handwritten.section import Unreadable
from aks_infiniband.hosts.dranet import DranetArgs
from aks_infiniband.hosts.image_pull import ImagePull
from aks_infiniband.hosts.node_preparation import NodePreparationArgs, to_prepare
from aks_infiniband.hosts.peermem import PeermemLoaderArgs, peermem_pools
from aks_infiniband.hosts.toolkit_hardening import ToolkitHardeningArgs, unhardened
from aks_infiniband.light_check import LightCheckArgs
from aks_infiniband.observability import ObservabilityArgs
from aks_infiniband.operators import charts
from aks_infiniband.operators.amd_gpu_operator import AmdGpuOperatorArgs, is_amd_pool
from aks_infiniband.operators.cert_manager import CertManagerArgs
from aks_infiniband.operators.device_config import DeviceConfigArgs
from aks_infiniband.operators.dra_driver import DraDriverArgs
from aks_infiniband.operators.existing_gpu_operator import ExistingGpuOperatorArgs
from aks_infiniband.operators.existing_network_operator import ExistingNetworkOperatorArgs
from aks_infiniband.operators.gpu_operator import GpuOperatorArgs
from aks_infiniband.operators.ipoib import IpoibNetworkArgs, Network, ipoib_networks
from aks_infiniband.operators.network_operator import NetworkOperatorArgs
from aks_infiniband.operators.nic_policy import (
    NicClusterPolicyArgs,
    NicNodePolicyArgs,
    NicPolicySpecs,
    nic_policy_specs,
)
from aks_infiniband.operators.release import OperatorArgs
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.registry import Registry
from aks_infiniband.stack.adopted_pools import AdoptedPoolsArgs
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.operators import Operator, Operators
from aks_infiniband.stack.revalidation import revalidate_when
from aks_infiniband.stack.settings.consistency.cluster import fitting
from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError, wrong
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.validation import ValidationAccess, ValidationAccessArgs, ValidationArgs
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.validation_job import pod_images
from aks_infiniband.workload import topology
from aks_infiniband.workload.guard import WorkloadGuardArgs
from aks_infiniband.workload.pods import NAMESPACE
from aks_infiniband.workload.pool_topology import PoolTopologyArgs
from aks_infiniband.workload.settings import WorkloadSettingsArgs

Kubeconfig = pulumi.Input[str]
_Args = TypeVar("_Args", bound=OperatorArgs)
_OF_FILES: Final = ("topologies", "cluster_name", "existing")
_OPERATORS: Final = ("network", "gpu", "dra", "amd", "cert_manager")
"""The parts of a stack in which mistakes are found once files are read: its own, and its operators."""
_OF_PARTS: Final = ("cluster", "adopted", "policies", "networks", "revalidate_when")
"""Parts that are made of these and of settings without mistakes."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack file, and all that follows from it; `load` makes it.

    Its sections are at `settings`, as they are written. Each such part is made once. Methods give the arguments of
    components; kubeconfig is that of the cluster, and explains a failed wait.
    """

    reading: Reading
    """The file."""
    registry_credentials: pulumi.Input[str] | None
    """A docker config (JSON) with which images are pulled; None if the registry requires none."""

    @property
    def settings(self) -> Settings:
        """The sections of the file."""
        return self.reading.settings

    @cached_property
    def operators(self) -> Operators:
        """Their charts and Helm values."""
        return Operators(self.reading, self.registry_credentials is not None)

    def mistakes(self) -> Iterator[Mistake]:
        """The mistakes in the files that the settings name, and in the cluster's default name."""
        for whose, part in [*((self, part) for part in _OF_FILES), *((self.operators, part) for part in _OPERATORS)]:
            try:
                getattr(whose, part)
            except SettingsError as error:
                yield from error.mistakes
            except (Unreadable, ValueError, charts.ValuesError):
                continue  # told already: of values that are not well-formed, or do not go together

    def whole(self) -> Self:
        """The stack, once everything in it is made. Raises ValueError for what does not go together."""
        for part in (*_OF_FILES, *_OF_PARTS):
            getattr(self, part)
        return self

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools with InfiniBand, in the file's order."""
        return self.operators.pools

    @property
    def registry(self) -> Registry:
        """The source of images."""
        return self.operators.registry

    @cached_property
    def existing(self) -> KubeconfigFile | None:
        """The kubeconfig of a cluster that exists already; None for a cluster that is made."""
        settings = self.settings.existing_cluster
        if settings is None:
            return None
        try:
            return read_kubeconfig(settings.kubeconfig, context=settings.context)
        except KubeconfigError as error:
            raise SettingsError((wrong(("existingCluster", "kubeconfig"), settings.kubeconfig, str(error)),)) from error

    @cached_property
    def cluster_name(self) -> str | None:
        """The name in Azure of the cluster that is made: the given one, or one made of project and stack."""
        if (cluster := self.settings.cluster) is None or cluster.name is not None:
            return None if cluster is None else cluster.name
        name = f"{pulumi.get_project()}-{pulumi.get_stack()}"
        try:
            rules.resource_name(name)
            fitting(name, cluster, self.settings.location)
            return name
        except ValueError as error:
            reason = f"is {name!r} if nothing else is given, after project and stack; {error}: give it a name"
            raise SettingsError((Mistake(key="aks-infiniband:cluster.name", reason=reason),)) from error

    @cached_property
    def cluster(self) -> AzureClusterArgs | KubeconfigFile:
        """The cluster that is made, with its pools, or what reaches one that is there already."""
        if self.existing is not None:
            return self.existing
        settings, location, name = self.settings, self.settings.location, self.cluster_name
        assert name is not None
        assert location is not None  # the rules have seen to both
        gated = any(pool.size.placement_feature for pool in self.pools)
        tags = self.reading.cluster.tags
        return AzureClusterArgs(
            location=location,
            name=name,
            settings=self.reading.cluster,
            pools=[(pool.facts if pool.infiniband else pool.given, pool.given) for pool in self.reading.pools],
            feature=FeatureRegistrationArgs(location=location, waits=settings.readiness, tags=tags) if gated else None,
            alerts_in=settings.observability.workspace_id if settings.observability else None,
        )

    @cached_property
    def adopted(self) -> AdoptedPoolsArgs | None:
        """The node pools of an existing cluster which the stack has taken over; None if it has taken over none."""
        aks = self.settings.existing_cluster and self.settings.existing_cluster.aks
        if not aks:
            return None
        return AdoptedPoolsArgs(
            resource_group=aks.resource_group,
            cluster_name=aks.name,
            pools=[
                (pool.facts if pool.infiniband else pool.given, pool.given, pool.adopted)
                for pool in self.reading.pools
                if pool.adopted
            ],
        )

    @cached_property
    def topologies(self) -> dict[str, str]:
        """By pool, the content of an NCCL topology file that takes the place of the generated one."""
        files: dict[str, str] = {}
        mistakes: list[Mistake] = []
        for pool in self.reading.infiniband_pools:
            try:
                if pool.given.nccl_topology is not None:
                    files[pool.name] = topology.read(pool.given.nccl_topology)
            except Unreadable:
                continue
            except ValueError as error:
                mistakes.append(wrong(pool.path("ncclTopology"), pool.given.nccl_topology, str(error)))
        if mistakes:
            raise SettingsError(tuple(mistakes))
        return files

    @cached_property
    def policies(self) -> NicPolicySpecs:
        """The parts that the Network Operator puts on nodes."""
        return nic_policy_specs(self.pools, self.operators.options)

    @cached_property
    def networks(self) -> list[Network]:
        """The networks of the pools in mode ipoib."""
        ipoib = self.settings.network_operator.ipoib
        return ipoib_networks(self.pools, ipoib.range, per_node=ipoib.addresses_per_node, gateway=ipoib.gateway)

    @cached_property
    def revalidate_when(self) -> Mapping[str, Mapping[str, Any]]:
        """By pool, the facts that a validation depends on in addition to the pool."""
        return {
            pool.name: revalidate_when(pool, operators=self.operators, policies=self.policies, networks=self.networks)
            for pool in self.reading.infiniband_pools
        }

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces in which workloads find their settings; the first is made."""
        return (NAMESPACE, *self.settings.workload.namespaces)

    @property
    def memlock(self) -> bool:
        """True if all nodes are prepared, and the memlock limit of their pods is lifted."""
        return self.settings.network_operator.node_preparation

    @property
    def workloads_pull(self) -> bool:
        """True if the namespaces of workloads get the registry's credentials."""
        return self.settings.workload.registry_credentials and self.registry_credentials is not None

    def network_operator(self, kubeconfig: Kubeconfig) -> NetworkOperatorArgs | None:
        """For a NetworkOperator; None if others keep one."""
        release = {"release": self.operators.release}
        return self._operator(NetworkOperatorArgs, self.operators.network, kubeconfig, **release)

    def gpu_operator(self, kubeconfig: Kubeconfig) -> GpuOperatorArgs | None:
        """For a GpuOperator; None if it would not have work."""
        return self._operator(GpuOperatorArgs, self.operators.gpu, kubeconfig)

    def dra_driver(self, kubeconfig: Kubeconfig) -> DraDriverArgs | None:
        """For a DraDriver; None if it would not have work."""
        return self._operator(DraDriverArgs, self.operators.dra, kubeconfig)

    def amd_gpu_operator(self, kubeconfig: Kubeconfig) -> AmdGpuOperatorArgs | None:
        """For an AmdGpuOperator; None if it would not have work."""
        return self._operator(AmdGpuOperatorArgs, self.operators.amd, kubeconfig)

    def cert_manager(self, kubeconfig: Kubeconfig) -> CertManagerArgs | None:
        """For a CertManager; None if none is to be made."""
        return self._operator(CertManagerArgs, self.operators.cert_manager, kubeconfig)

    def _operator(
        self, kind: type[_Args], operator: Operator | None, kubeconfig: Kubeconfig, **more: Any
    ) -> _Args | None:
        if operator is None:
            return None
        return kind(
            chart=operator.chart,
            values=operator.values,
            pools=self.pools,
            registry_credentials=self.registry_credentials,
            **self._wait(kubeconfig),
            **more,
        )

    def existing_network_operator(self, kubeconfig: Kubeconfig) -> ExistingNetworkOperatorArgs | None:
        """For an ExistingNetworkOperator; None if no others keep one."""
        if not self.settings.network_operator.existing:
            return None
        return ExistingNetworkOperatorArgs(policies=self.policies, **self._looks(kubeconfig))

    def existing_gpu_operator(self, kubeconfig: Kubeconfig) -> ExistingGpuOperatorArgs | None:
        """For an ExistingGpuOperator; None if no other owner keeps one."""
        if not self.settings.gpu_operator.existing:
            return None
        return ExistingGpuOperatorArgs(pools=self.pools, **self._looks(kubeconfig))

    def device_configs(self, kubeconfig: Kubeconfig) -> dict[str, DeviceConfigArgs]:
        """For DeviceConfigs, by pool; empty if no pool has GPUs of AMD that are managed."""
        pools, wait = filter(is_amd_pool, self.pools), self._wait(kubeconfig)
        return {pool.name: DeviceConfigArgs(pool=pool, options=self.operators.amd_options, **wait) for pool in pools}

    def _looks(self, kubeconfig: Kubeconfig) -> dict[str, Any]:
        return {"poll_seconds": self.settings.readiness.poll_seconds, **self._wait(kubeconfig)}

    def _wait(self, kubeconfig: Kubeconfig) -> dict[str, Any]:
        return {"timeout_seconds": self.settings.readiness.timeout_seconds, "kubeconfig": kubeconfig}

    def cluster_policy(self, kubeconfig: Kubeconfig) -> NicClusterPolicyArgs:
        """For the NicClusterPolicy."""
        return NicClusterPolicyArgs(policies=self.policies, **self._wait(kubeconfig))

    def node_policies(self, kubeconfig: Kubeconfig) -> dict[str, NicNodePolicyArgs]:
        """For NicNodePolicies, by pool; empty if all pools agree."""
        wait = self._wait(kubeconfig)
        return {name: NicNodePolicyArgs(pool_name=name, policies=self.policies, **wait) for name in self.policies.nodes}

    def ipoib_networks(self, kubeconfig: Kubeconfig) -> dict[str, IpoibNetworkArgs]:
        """For IpoibNetworks, by the network's name; empty if no pool is in mode ipoib."""
        wait = self._wait(kubeconfig)
        return {each.name: IpoibNetworkArgs(network=each, namespace=NAMESPACE, **wait) for each in self.networks}

    def node_preparation(self, kubeconfig: Kubeconfig) -> NodePreparationArgs | None:
        """For a NodePreparation; None if it is not enabled, and every pool's driver loads its modules itself."""
        pools = to_prepare(self.pools, asked_for=self.memlock)
        return NodePreparationArgs(memlock=self.memlock, **self._daemon(pools, kubeconfig)) if pools else None

    def dranet(self, kubeconfig: Kubeconfig) -> DranetArgs | None:
        """For a Dranet; None if no pool is in mode dra."""
        pools = [pool for pool in self.pools if pool.access.claims]
        return DranetArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def peermem(self, kubeconfig: Kubeconfig) -> PeermemLoaderArgs | None:
        """For a PeermemLoader; None if no pool has a GPU driver of AKS together with OFED."""
        pools = peermem_pools(self.pools)
        return PeermemLoaderArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def toolkit_hardening(self, kubeconfig: Kubeconfig) -> ToolkitHardeningArgs | None:
        """For a ToolkitHardening; None if no pool has a container toolkit of AKS, or if another owner keeps it."""
        operator = self.settings.gpu_operator
        pools = [] if operator.existing or operator.accept_visible_devices_envvar else unhardened(self.pools)
        return ToolkitHardeningArgs(**self._daemon(pools, kubeconfig)) if pools else None

    def _daemon(self, pools: Sequence[Pool], kubeconfig: Kubeconfig) -> dict[str, Any]:
        return {"pools": pools, "namespace": SYSTEM_NAMESPACE, "registry": self.registry, **self._wait(kubeconfig)}

    def workload_guard(self) -> WorkloadGuardArgs | None:
        """For a WorkloadGuard; None if pods are privileged, as those of a pool in mode driver-only."""
        return None if any(pool.access.privileged for pool in self.pools) else WorkloadGuardArgs()

    def image_pulls(self) -> list[ImagePull]:
        """One for all pools that want the same images. A pool whose validation needs a small image only gets none."""
        measured = self.settings.validation.mode != "off"
        wanted: dict[tuple[str, ...], list[Pool]] = {}
        for read, pool in zip(self.reading.infiniband_pools, self.pools, strict=True):
            first = pod_images(pool, self.settings.validation) if measured and pool.gpu_resource else ()
            wanted.setdefault(tuple(dict.fromkeys([*first, *read.given.images])), []).append(pool)
        return [ImagePull(pools=of, images=images, registry=self.registry) for images, of in wanted.items() if images]

    def workload_settings(self) -> WorkloadSettingsArgs:
        """For WorkloadSettings."""
        return WorkloadSettingsArgs(pools=self.pools, namespaces=self.namespaces, topologies=self.topologies)

    @property
    def workload_registry(self) -> Registry:
        """The source of workloads' images, with the Secret only if their namespaces have it."""
        return replace(self.registry, pull_secret=self.registry.pull_secret if self.workloads_pull else None)

    def validation_access(self) -> ValidationAccessArgs:
        """For the ValidationAccess of all validations."""
        expected = [expected_of(pool, self.settings.validation, node_preparation=self.memlock) for pool in self.pools]
        return ValidationAccessArgs(pools=self.pools, topologies=self.topologies, expected=expected)

    def light_check(self) -> LightCheckArgs | None:
        """For a LightCheck; None if it is not enabled."""
        check, validation = self.settings.light_check, self.settings.validation
        if check is None:
            return None
        return LightCheckArgs(
            pools=self.pools,
            schedule=check.schedule,
            thresholds=validation.thresholds,
            error_counters=validation.error_counters,
            registry=self.registry,
        )

    def observability(self, kubeconfig: Kubeconfig) -> ObservabilityArgs | None:
        """For an Observability; None if it is not enabled."""
        settings = self.settings.observability
        if settings is None:
            return None
        return ObservabilityArgs(
            pools=self.pools,
            prometheus=settings.prometheus,
            labels=settings.labels,
            gpus=self.operators.gpu is not None,
            registry=self.registry,
            **self._wait(kubeconfig),
        )

    def pool_topologies(self) -> dict[str, PoolTopologyArgs]:
        """For PoolTopologies, by pool: the objects for a scheduler; empty if none is set."""
        settings = self.settings.scheduler_topology
        if settings is None:
            return {}
        return {
            pool.name: PoolTopologyArgs(pool=pool, scheduler=settings.scheduler, levels=settings.levels)
            for pool in self.pools
        }

    def validation_of(
        self, pool: Pool, kubeconfig: Kubeconfig, *, access: ValidationAccess | None = None
    ) -> ValidationArgs:
        """For the Validation of a pool; access is what all of them share."""
        return ValidationArgs(
            access=access,
            pool=pool,
            options=self.settings.validation,
            waits=self.settings.readiness,
            registry=self.registry,
            node_preparation=self.memlock,
            kubeconfig=kubeconfig,
            revalidate_when=self.revalidate_when[pool.name],
        )
