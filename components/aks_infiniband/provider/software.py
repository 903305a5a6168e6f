"""The components inside the cluster, for every language."""

from enum import StrEnum
from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband import validation
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART
from aks_infiniband.operators import gpu_operator, network_operator, nic_policy
from aks_infiniband.operators.release import SYSTEM_POOL
from aks_infiniband.provider.inputs import ChartDescription, PoolDescription, chart_of, pool_of, pools_of, whole_numbers
from aks_infiniband.workload import settings
from aks_infiniband.workload.pods import NAMESPACE


class ValidationMode(StrEnum):
    """What follows from a failed check: the update fails, or it is reported, or nothing is checked."""

    ENFORCE = "enforce"
    WARN = "warn"
    OFF = "off"


class OperatorInputs(TypedDict):
    """What both operators take."""

    pools: list[PoolDescription]
    """All pools with InfiniBand of the cluster."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """With it a failed wait is explained."""
    chart: NotRequired[ChartDescription]
    """The chart. Default: NVIDIA's."""
    values: NotRequired[dict[str, Any]]
    """Further Helm values. A value that contradicts what follows from the pools is refused."""
    system_node_selector: NotRequired[dict[str, str]]
    """Labels of the nodes that carry the operator. Default: AKS's label of system pools. Empty: any node of no pool."""


class NetworkOperator(network_operator.NetworkOperator):
    """NVIDIA Network Operator, ready, and the definitions of its custom resources."""

    def __init__(self, name: str, args: OperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        pools = pools_of(args["pools"])
        values = whole_numbers(args.get("values", {}))
        given = network_operator.NetworkOperatorArgs(
            pools=pools,
            kubeconfig=args.get("kubeconfig"),
            chart=chart_of(args.get("chart"), NETWORK_OPERATOR_CHART),
            values=network_operator.network_operator_values(
                pools, given=values, system_node_selector=args.get("system_node_selector", SYSTEM_POOL)
            ),
        )
        super().__init__(name, args=given, opts=opts)


class GpuOperator(gpu_operator.GpuOperator):
    """NVIDIA GPU Operator and its ClusterPolicy, both ready."""

    release: Any
    """ID of the Helm release."""

    def __init__(self, name: str, args: OperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        pools = pools_of(args["pools"])
        values = whole_numbers(args.get("values", {}))
        given = gpu_operator.GpuOperatorArgs(
            pools=pools,
            kubeconfig=args.get("kubeconfig"),
            chart=chart_of(args.get("chart"), GPU_OPERATOR_CHART),
            values=gpu_operator.gpu_operator_values(
                pools, given=values, system_node_selector=args.get("system_node_selector", SYSTEM_POOL)
            ),
        )
        super().__init__(name, args=given, opts=opts)
        self.release = self.release.id


class NicClusterPolicyInputs(TypedDict):
    """What a NicClusterPolicy takes."""

    pools: list[PoolDescription]
    """All pools with InfiniBand of the cluster. They must agree on driver and device plugin."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """With it a failed wait is explained."""


class NicClusterPolicy(nic_policy.NicClusterPolicy):
    """Driver, device plugin and network plugins on all pools, ready. Give the NetworkOperator as dependsOn."""

    def __init__(self, name: str, args: NicClusterPolicyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        policies = nic_policy.nic_policy_specs(pools_of(args["pools"]))
        if policies.nodes:
            raise ValueError(
                f"pools {', '.join(policies.nodes)} differ in driver or device plugin; must agree here, and where they "
                "differ RdmaCluster serves them"
            )
        given = nic_policy.NicClusterPolicyArgs(policies=policies, kubeconfig=args.get("kubeconfig"))
        super().__init__(name, args=given, opts=opts)


class WorkloadSettingsInputs(TypedDict):
    """What WorkloadSettings take."""

    pools: list[PoolDescription]
    """The pools on which workloads run."""
    namespaces: NotRequired[list[str]]
    """Namespaces of workloads, which have to exist. Default: aks-infiniband."""


class WorkloadSettings(settings.WorkloadSettings):
    """ConfigMaps with the environment of RDMA workloads, for envFrom, and with NCCL's topology, to be mounted."""

    config_maps: dict[str, pulumi.Output[str]]
    """By pool, the name of the ConfigMap with its environment."""

    def __init__(self, name: str, args: WorkloadSettingsInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = settings.WorkloadSettingsArgs(
            pools=pools_of(args["pools"]), namespaces=args.get("namespaces", [NAMESPACE])
        )
        super().__init__(name, args=given, opts=opts)


class ValidationInputs(TypedDict):
    """What a Validation takes."""

    pool: PoolDescription
    """The pool that is validated, as a whole."""
    kubeconfig: pulumi.Input[str]
    """With which a failed wait is explained, and the pods are asked for the digest of the report."""
    namespace: str
    """Namespace of all that the validation makes. It has to exist; no workload belongs there."""
    mode: NotRequired[ValidationMode]
    """What follows from a failed check. Default: enforce."""


class Validation(validation.Validation):
    """Proves that every node of a pool does what its size promises."""

    def __init__(self, name: str, args: ValidationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        mode = args.get("mode", ValidationMode.ENFORCE)
        given = validation.ValidationArgs(
            pool=pool_of(args["pool"]),
            kubeconfig=args["kubeconfig"],
            namespace=args["namespace"],
            options=validation.ValidationOptions.model_validate({"mode": str(mode)}),
        )
        super().__init__(name, args=given, opts=opts)
