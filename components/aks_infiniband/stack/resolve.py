"""From settings, as they are read, to a stack with nothing left open, and the mistakes that only files can hold."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Final

import pulumi

from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import KubeconfigFile, read_kubeconfig
from aks_infiniband.facts import rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import OPERATOR_RELEASES, Release
from aks_infiniband.facts.versions import Chart
from aks_infiniband.handwritten.section import Unreadable
from aks_infiniband.observability import ObservabilityArgs
from aks_infiniband.operators import charts
from aks_infiniband.operators.gpu_operator import check_driver, gpu_operator_values, is_gpu_pool
from aks_infiniband.operators.ipoib import Network, ipoib_networks
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.operators.nic_policy import NicPolicySpecs, nic_policy_specs, pool_sections
from aks_infiniband.operators.release import SYSTEM_POOL, OperatorOptions
from aks_infiniband.resources.registry import PULL_SECRET, Registry
from aks_infiniband.stack.resolve_azure import azure_cluster_args
from aks_infiniband.stack.revalidation import revalidate_when
from aks_infiniband.stack.settings.consistency.cluster import fitting
from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError, wrong
from aks_infiniband.stack.settings.operators import ChartSettings
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.stack.stack import Operator, Stack
from aks_infiniband.workload import topology
from aks_infiniband.workload.pods import NAMESPACE

_FILES: Final = ("topologies", "network", "gpu", "cluster_name", "existing")
"""The parts of a stack in which mistakes are found once files are read."""


class Resolution:
    """The parts of a stack, each computed once. After a reading with holes some of them raise Unreadable."""

    def __init__(self, reading: Reading, registry_credentials: pulumi.Input[str] | None) -> None:
        self._reading, self._settings = reading, reading.settings
        self._credentials = registry_credentials

    def mistakes(self) -> Iterator[Mistake]:
        """The mistakes in the files that the settings name, and in the cluster's default name."""
        for part in _FILES:
            try:
                getattr(self, part)
            except SettingsError as error:
                yield from error.mistakes
            except (Unreadable, ValueError, charts.ValuesError):
                continue  # told already: of values that are not well-formed, or do not go together

    def stack(self) -> Stack:
        """The whole stack. Raises SettingsError."""
        settings = self._settings
        return Stack(
            cluster=self.existing or azure_cluster_args(self._reading, self.pools, self.cluster_name),
            pools=self.pools,
            release=self.release,
            registry=self.registry,
            registry_credentials=self._credentials,
            network=self.network,
            gpu=self.gpu,
            gpu_operator_exists=settings.gpu_operator.existing,
            hardens_toolkit=not settings.gpu_operator.accept_visible_devices_envvar,
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
            check_schedule=settings.light_check.schedule if settings.light_check else None,
            revalidate_when={
                pool.name: revalidate_when(
                    pool,
                    resolved,
                    settings=settings,
                    nic_policy=pool_sections(resolved, self.options),
                    policies=self.policies,
                    networks=self.networks,
                    network=self.network,
                    gpu=self.gpu,
                )
                for pool, resolved in zip(self._reading.infiniband_pools, self.pools, strict=True)
            },
        )

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        return tuple(pool.resolved() for pool in self._reading.infiniband_pools)

    @property
    def release(self) -> Release:
        """Of both operators."""
        return OPERATOR_RELEASES[self._settings.release]

    @cached_property
    def registry(self) -> Registry:
        secret = None if self._credentials is None else PULL_SECRET
        return Registry(images=self._settings.registry.images, pull_secret=secret)

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
    def network(self) -> Operator:
        given = self._settings.network_operator
        with _told("networkOperator"):
            people = charts.given_values(given.values_file, given.values, named="values_file" in given.model_fields_set)
            values = network_operator_values(
                self.pools,
                given=people,
                feature_discovery=not self._settings.gpu_operator.existing,
                system_node_selector=self._system_node_selector,
                registry=self.registry,
            )
            chart = self._chart(self.release.network_operator.chart, given.chart)
            return Operator(chart=chart, given=people, values=values)

    @cached_property
    def gpu(self) -> Operator | None:
        given = self._settings.gpu_operator
        if given.existing:
            return None
        with _told("gpuOperator"):
            people = charts.given_values(given.values_file, given.values, named="values_file" in given.model_fields_set)
            if not any(map(is_gpu_pool, self.pools)):
                return None
            values = gpu_operator_values(
                self.pools,
                given=people,
                options=self._options(given.driver_version),
                metrics=self._settings.observability is not None,
                accept_visible_devices_envvar=given.accept_visible_devices_envvar,
                system_node_selector=self._system_node_selector,
            )
            chart = self._chart(self.release.gpu_operator.chart, given.chart)
            check_driver(self.pools, chart=chart, values=values)
            return Operator(chart=chart, given=people, values=values)

    @cached_property
    def _system_node_selector(self) -> Mapping[str, str]:
        """Where both operators run."""
        existing = self._settings.existing_cluster
        return SYSTEM_POOL if existing is None else existing.system_node_selector

    def _chart(self, default: Chart, given: ChartSettings) -> charts.ChartSource:
        own = {"name": given.name, "repository": given.repository, "version": given.version}
        return charts.there(charts.chart_source(default, **own, location=self._settings.registry.charts))

    @cached_property
    def options(self) -> OperatorOptions:
        return self._options(self._settings.network_operator.driver_version)

    def _options(self, driver_version: str | None) -> OperatorOptions:
        upgrade = self._settings.network_operator.upgrade
        return OperatorOptions(
            release=self.release, driver_version=driver_version, upgrade=upgrade, registry=self.registry
        )

    @cached_property
    def policies(self) -> NicPolicySpecs:
        return nic_policy_specs(self.pools, self.options)

    @cached_property
    def networks(self) -> list[Network]:
        ipoib = self._settings.network_operator.ipoib
        return ipoib_networks(self.pools, ipoib.range, per_node=ipoib.addresses_per_node, gateway=ipoib.gateway)

    def _observability(self) -> ObservabilityArgs | None:
        given = self._settings.observability
        if given is None:
            return None
        return ObservabilityArgs(
            pools=self.pools,
            prometheus=given.prometheus,
            labels=given.labels,
            gpus=self.gpu is not None,
            registry=self.registry,
            timeout_seconds=self._settings.readiness.timeout_seconds,
        )


@contextmanager
def _told(operator: str) -> Iterator[None]:
    """Report mistakes in an operator's Helm values under the keys of its section."""
    try:
        yield
    except charts.ValuesError as error:
        if not error.mistakes:
            raise
        found = [Mistake(key=f"aks-infiniband:{operator}.{key}", reason=reason) for key, reason in error.mistakes]
        raise SettingsError(tuple(found)) from error
