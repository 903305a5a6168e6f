"""What the settings make of both operators: their charts, values and arguments, checked before anything is created."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pulumi

from aks_infiniband import charts, versions
from aks_infiniband.gpu_operator import GpuOperatorArgs, gpu_operator_values, has_nvidia_gpus
from aks_infiniband.network_operator import NetworkOperatorArgs, network_operator_values
from aks_infiniband.nic_policy import nic_cluster_policy_spec
from aks_infiniband.pool import Pool
from aks_infiniband.settings import GpuOperatorSettings, NetworkOperatorSettings, Settings


@dataclass(frozen=True, kw_only=True)
class Operators:
    """The arguments of both operators, checked before anything is created."""

    settings: Settings
    pools: list[Pool]
    network_chart: charts.ChartSource
    network_values: Mapping[str, Any]
    gpu_chart: charts.ChartSource
    gpu_values: Mapping[str, Any]

    @property
    def gpu_pools(self) -> list[Pool]:
        return [pool for pool in self.pools if has_nvidia_gpus(pool)]

    def network(self, kubeconfig: pulumi.Input[str]) -> NetworkOperatorArgs:
        return NetworkOperatorArgs(
            pools=self.pools,
            chart=self.network_chart,
            values=self.network_values,
            timeout_seconds=self.settings.readiness.timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def gpu(self, kubeconfig: pulumi.Input[str]) -> GpuOperatorArgs:
        return GpuOperatorArgs(
            pools=self.gpu_pools,
            chart=self.gpu_chart,
            values=self.gpu_values,
            timeout_seconds=self.settings.readiness.timeout_seconds,
            kubeconfig=kubeconfig,
        )

    def facts(self) -> dict[str, Any]:
        """What, changed, makes an earlier validation say nothing any more."""
        facts: dict[str, Any] = {
            "nicClusterPolicy": nic_cluster_policy_spec(self.pools),
            "networkOperator": {"chart": asdict(self.network_chart), "values": self.network_values},
        }
        if self.gpu_pools:
            facts["gpuOperator"] = {"chart": asdict(self.gpu_chart), "values": self.gpu_values}
        return facts


def configure(settings: Settings, pools: list[Pool]) -> Operators:
    """Raises charts.ValuesError for Helm values that cannot be read, or contradict what follows from the settings."""
    gpu_pools = [pool for pool in pools if has_nvidia_gpus(pool)]
    network_chart, network_values, network_errors = _checked(
        settings.network_operator, versions.NETWORK_OPERATOR_CHART, network_operator_values(pools)
    )
    gpu_chart, gpu_values, gpu_errors = _checked(
        settings.gpu_operator, versions.GPU_OPERATOR_CHART, gpu_operator_values(gpu_pools)
    )
    if errors := [*network_errors, *gpu_errors]:
        raise charts.ValuesError("\n".join(errors))
    return Operators(
        settings=settings,
        pools=pools,
        network_chart=network_chart,
        network_values=network_values,
        gpu_chart=gpu_chart,
        gpu_values=gpu_values,
    )


def _checked(
    given: NetworkOperatorSettings | GpuOperatorSettings, default: versions.Chart, derived: Mapping[str, Any]
) -> tuple[charts.ChartSource, Mapping[str, Any], list[str]]:
    """One operator's chart and given values, and what is wrong with them, so that both operators' mistakes are told."""
    chart = charts.resolve(default, given.chart)
    try:
        values = charts.given_values(given.values_file, given.values)
        charts.merge(values, derived, chart=chart.name)
    except charts.ValuesError as error:
        return chart, {}, [str(error)]
    return chart, values, []
