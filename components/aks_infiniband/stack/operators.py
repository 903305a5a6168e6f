"""What the settings make of both operators: their charts, values and arguments, checked before anything is created."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from aks_infiniband.facts import versions
from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_preparation import NodePreparationArgs, to_prepare
from aks_infiniband.hosts.peermem import PeermemLoaderArgs, peermem_pools
from aks_infiniband.operators import charts
from aks_infiniband.operators.gpu_operator import GpuOperatorArgs, gpu_operator_values, is_gpu_pool
from aks_infiniband.operators.ipoib import IpoibNetworkArgs, Network, networks
from aks_infiniband.operators.network_operator import NetworkOperatorArgs, network_operator_values
from aks_infiniband.operators.nic_policy import NicClusterPolicyArgs, NicNodePolicyArgs
from aks_infiniband.operators.nic_policy_spec import PolicyOptions, nic_policy_specs
from aks_infiniband.operators.system_nodes import SYSTEM_POOL
from aks_infiniband.operators.upgrades import DriverUpgrade
from aks_infiniband.resources.registry import PULL_SECRET, Registry
from aks_infiniband.stack.settings import GpuOperatorSettings, NetworkOperatorSettings, Settings
from aks_infiniband.workload import pods


@dataclass(frozen=True, kw_only=True)
class Operators:
    """The arguments of everything that the operators do, checked before anything is created."""

    settings: Settings
    pools: list[Pool]
    registry: Registry
    registry_credentials: pulumi.Input[str] | None
    network_chart: charts.ChartSource
    network_values: Mapping[str, Any]
    gpu_chart: charts.ChartSource
    gpu_values: Mapping[str, Any]

    @property
    def gpu_pools(self) -> list[Pool]:
        """The pools for which there is a GPU Operator at all."""
        return [pool for pool in self.pools if is_gpu_pool(pool)]

    def network(self, kubeconfig: pulumi.Input[str]) -> NetworkOperatorArgs:
        return NetworkOperatorArgs(
            pools=self.pools,
            chart=self.network_chart,
            values=self.network_values,
            system_node_selector=_system_nodes(self.settings),
            registry=self.registry,
            registry_credentials=self.registry_credentials,
            timeout_seconds=self._timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def policy(self, kubeconfig: pulumi.Input[str]) -> NicClusterPolicyArgs:
        return NicClusterPolicyArgs(
            pools=self.pools,
            options=self.policy_options,
            timeout_seconds=self._timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def node_policies(self, kubeconfig: pulumi.Input[str]) -> dict[str, NicNodePolicyArgs]:
        """By pool; empty where all pools agree."""
        specs = nic_policy_specs(self.pools, self.policy_options).nodes
        return {
            pool.name: NicNodePolicyArgs(
                pool=pool,
                pools=self.pools,
                options=self.policy_options,
                timeout_seconds=self._timeout_seconds,
                kubeconfig=kubeconfig,
            )
            for pool in self.pools
            if pool.name in specs
        }

    def ipoib_networks(self, kubeconfig: pulumi.Input[str]) -> dict[str, IpoibNetworkArgs]:
        """By the network's name; empty where no pool is in mode ipoib."""
        return {
            network.name: IpoibNetworkArgs(
                network=network,
                namespace=pods.NAMESPACE,
                timeout_seconds=self._timeout_seconds,
                kubeconfig=kubeconfig,
            )
            for network in self.networks
        }

    def gpu(self, kubeconfig: pulumi.Input[str]) -> GpuOperatorArgs:
        return GpuOperatorArgs(
            pools=self.pools,
            chart=self.gpu_chart,
            values=self.gpu_values,
            driver_version=self.settings.gpu_operator.driver_version,
            upgrade=_upgrade(self.settings),
            system_node_selector=_system_nodes(self.settings),
            registry=self.registry,
            registry_credentials=self.registry_credentials,
            timeout_seconds=self._timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def node_preparation(
        self, namespace: pulumi.Input[str], kubeconfig: pulumi.Input[str]
    ) -> NodePreparationArgs | None:
        """None where it is not asked for, and every pool's driver loads its modules itself."""
        asked_for = self.settings.network_operator.node_preparation
        pools = to_prepare(self.pools, asked_for=asked_for)
        if not pools:
            return None
        return NodePreparationArgs(
            pools=pools,
            namespace=namespace,
            memlock=asked_for,
            registry=self.registry,
            timeout_seconds=self._timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def peermem(self, namespace: pulumi.Input[str], kubeconfig: pulumi.Input[str]) -> PeermemLoaderArgs | None:
        """None where nobody but AKS would have to load nvidia-peermem."""
        pools = peermem_pools(self.pools)
        if not pools:
            return None
        return PeermemLoaderArgs(
            pools=pools,
            namespace=namespace,
            registry=self.registry,
            timeout_seconds=self._timeout_seconds,
            kubeconfig=kubeconfig,
        )

    @property
    def networks(self) -> list[Network]:
        """Those of the pools in mode ipoib."""
        given = self.settings.network_operator.ipoib
        ranges = self.settings.ipoib_ranges()
        return networks(self.pools, ranges, per_node=given.addresses_per_node, gateway=given.gateway)

    @property
    def policy_options(self) -> PolicyOptions:
        """What holds for all policies."""
        return PolicyOptions(
            driver_version=self.settings.network_operator.driver_version,
            upgrade=_upgrade(self.settings),
            registry=self.registry,
        )

    @property
    def _timeout_seconds(self) -> float:
        return self.settings.readiness.timeout_seconds


def configure(
    settings: Settings, pools: list[Pool], *, registry_credentials: pulumi.Input[str] | None = None
) -> Operators:
    """Raises charts.ValuesError for Helm values that cannot be read, or contradict what follows from the settings.

    pools: those with InfiniBand.
    registry_credentials: docker configuration (JSON) with which images are pulled; None where that takes none.
    """
    registry = Registry(
        images=settings.registry.images, pull_secret=None if registry_credentials is None else PULL_SECRET
    )
    system = _system_nodes(settings)
    network_chart, network_values, errors = _checked(
        settings.network_operator,
        versions.NETWORK_OPERATOR_CHART,
        settings.registry.charts,
        network_operator_values(pools, system_node_selector=system, registry=registry),
    )
    gpu_derived: Mapping[str, Any] = {}
    if any(is_gpu_pool(pool) for pool in pools):
        gpu_derived = gpu_operator_values(
            pools,
            driver_version=settings.gpu_operator.driver_version,
            upgrade=_upgrade(settings),
            system_node_selector=system,
            registry=registry,
        )
    gpu_chart, gpu_values, gpu_errors = _checked(
        settings.gpu_operator, versions.GPU_OPERATOR_CHART, settings.registry.charts, gpu_derived
    )
    if errors := [*errors, *gpu_errors]:
        raise charts.ValuesError("\n".join(errors))
    return Operators(
        settings=settings,
        pools=pools,
        registry=registry,
        registry_credentials=registry_credentials,
        network_chart=network_chart,
        network_values=network_values,
        gpu_chart=gpu_chart,
        gpu_values=gpu_values,
    )


def _checked(
    given: NetworkOperatorSettings | GpuOperatorSettings,
    default: versions.Chart,
    location: str | None,
    derived: Mapping[str, Any],
) -> tuple[charts.ChartSource, Mapping[str, Any], list[str]]:
    """One operator's chart and given values, and what is wrong with them, so that both operators' mistakes are told."""
    chart = charts.resolve(default, given.chart, location=location)
    try:
        values = charts.given_values(given.values_file, given.values)
        charts.merge(values, derived, chart=chart.name)
    except charts.ValuesError as error:
        return chart, {}, [str(error)]
    return chart, values, []


def _system_nodes(settings: Settings) -> Mapping[str, str]:
    """Labels of the nodes that carry the operators; none where any node does that is of no InfiniBand pool."""
    if settings.existing_cluster is not None:
        return settings.existing_cluster.system_node_selector
    return SYSTEM_POOL


def _upgrade(settings: Settings) -> DriverUpgrade:
    given = settings.network_operator.upgrade
    return DriverUpgrade(automatic=given.automatic, drain_timeout_seconds=given.drain_timeout_seconds)
