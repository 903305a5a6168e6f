"""From settings, as they are read, to a stack with nothing left open, and the mistakes that only files can hold."""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import pulumi

from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import KubeconfigFile, read_kubeconfig
from aks_infiniband.facts import rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.handwritten.section import Unreadable
from aks_infiniband.observability import ObservabilityArgs
from aks_infiniband.operators import charts
from aks_infiniband.operators.ipoib import Network, ipoib_networks
from aks_infiniband.operators.nic_policy import NicPolicySpecs, nic_policy_specs, pool_sections
from aks_infiniband.stack.resolve_azure import azure_cluster_args
from aks_infiniband.stack.resolve_operators import Operators
from aks_infiniband.stack.revalidation import revalidate_when
from aks_infiniband.stack.settings.consistency.cluster import fitting
from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError, wrong
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.stack.stack import Stack
from aks_infiniband.workload import topology
from aks_infiniband.workload.pods import NAMESPACE
from aks_infiniband.workload.pool_topology import PoolTopologyArgs

_FILES: Final = ("topologies", "cluster_name", "existing")
_OPERATORS: Final = ("network", "gpu", "dra", "amd", "cert_manager")
"""The parts of a stack in which mistakes are found once files are read: its own, and its operators."""


class Resolution:
    """The parts of a stack, each computed once. After a reading with holes some of them raise Unreadable."""

    def __init__(self, reading: Reading, registry_credentials: pulumi.Input[str] | None) -> None:
        self._reading, self._settings = reading, reading.settings
        self._credentials = registry_credentials
        self._operators = Operators(reading, registry_credentials is not None)

    def mistakes(self) -> Iterator[Mistake]:
        """The mistakes in the files that the settings name, and in the cluster's default name."""
        for whose, part in [*((self, part) for part in _FILES), *((self._operators, part) for part in _OPERATORS)]:
            try:
                getattr(whose, part)
            except SettingsError as error:
                yield from error.mistakes
            except (Unreadable, ValueError, charts.ValuesError):
                continue  # told already: of values that are not well-formed, or do not go together

    def stack(self) -> Stack:
        """The whole stack. Raises SettingsError."""
        settings, operators = self._settings, self._operators
        return Stack(
            cluster=self.existing or azure_cluster_args(self._reading, self.pools, self.cluster_name),
            pools=self.pools,
            release=operators.release,
            registry=self._operators.registry,
            registry_credentials=self._credentials,
            network=operators.network,
            network_options=operators.options,
            gpu=operators.gpu,
            dra=operators.dra,
            gpu_operator_exists=settings.gpu_operator.existing,
            hardens_toolkit=not settings.gpu_operator.accept_visible_devices_envvar,
            amd=operators.amd,
            amd_options=operators.amd_options,
            cert_manager=operators.cert_manager,
            policies=self.policies,
            networks=self.networks,
            topologies=self.topologies,
            namespaces=(NAMESPACE, *settings.workload.namespaces),
            create_namespaces=settings.workload.create_namespaces,
            workloads_pull=settings.workload.registry_credentials and self._credentials is not None,
            images={pool.name: pool.given.images for pool in self._reading.infiniband_pools},
            memlock=settings.network_operator.node_preparation,
            waits=settings.readiness,
            validation=settings.validation,
            preflight=settings.preflight,
            observability=self._observability(),
            pool_topologies=self._pool_topologies(),
            check_schedule=settings.light_check.schedule if settings.light_check else None,
            revalidate_when={
                pool.name: revalidate_when(
                    pool,
                    resolved,
                    settings=settings,
                    nic_policy=pool_sections(resolved, operators.options),
                    policies=self.policies,
                    networks=self.networks,
                    network=operators.network,
                    gpu=operators.gpu,
                    amd=operators.amd,
                )
                for pool, resolved in zip(self._reading.infiniband_pools, self.pools, strict=True)
            },
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Those with InfiniBand."""
        return self._operators.pools

    @cached_property
    def topologies(self) -> dict[str, str]:
        found: dict[str, str] = {}
        mistakes: list[Mistake] = []
        for pool in self._reading.infiniband_pools:
            try:
                if pool.given.nccl_topology is not None:
                    found[pool.name] = topology.read(pool.given.nccl_topology)
            except Unreadable:
                continue
            except ValueError as error:
                mistakes.append(wrong(pool.path("ncclTopology"), pool.given.nccl_topology, str(error)))
        if mistakes:
            raise SettingsError(tuple(mistakes))
        return found

    @cached_property
    def cluster_name(self) -> str | None:
        """The name in Azure of the cluster that is made: the given one, or one made of project and stack."""
        if (cluster := self._settings.cluster) is None or cluster.name is not None:
            return None if cluster is None else cluster.name
        name = f"{pulumi.get_project()}-{pulumi.get_stack()}"
        try:
            rules.resource_name(name)
            fitting(name, cluster, self._settings.location)
            return name
        except ValueError as error:
            reason = f"is {name!r} where nothing else is given, after project and stack; {error}: give it a name"
            raise SettingsError((Mistake(key="aks-infiniband:cluster.name", reason=reason),)) from error

    @cached_property
    def existing(self) -> KubeconfigFile | None:
        given = self._settings.existing_cluster
        if given is None:
            return None
        try:
            return read_kubeconfig(given.kubeconfig, context=given.context)
        except KubeconfigError as error:
            raise SettingsError((wrong(("existingCluster", "kubeconfig"), given.kubeconfig, str(error)),)) from error

    @cached_property
    def policies(self) -> NicPolicySpecs:
        return nic_policy_specs(self.pools, self._operators.options)

    @cached_property
    def networks(self) -> list[Network]:
        ipoib = self._settings.network_operator.ipoib
        return ipoib_networks(self.pools, ipoib.range, per_node=ipoib.addresses_per_node, gateway=ipoib.gateway)

    def _pool_topologies(self) -> list[PoolTopologyArgs]:
        given = self._settings.scheduler_topology
        if given is None:
            return []
        return [PoolTopologyArgs(pool=pool, scheduler=given.scheduler, levels=given.levels) for pool in self.pools]

    def _observability(self) -> ObservabilityArgs | None:
        given = self._settings.observability
        if given is None:
            return None
        return ObservabilityArgs(
            pools=self.pools,
            prometheus=given.prometheus,
            labels=given.labels,
            gpus=self._operators.gpu is not None,
            registry=self._operators.registry,
            timeout_seconds=self._settings.readiness.timeout_seconds,
        )
