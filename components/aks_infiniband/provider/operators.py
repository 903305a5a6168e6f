"""NVIDIA's operators for every language, and how the arguments of any operator are made."""

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, TypedDict, TypeVar

import pulumi

from aks_infiniband.facts.bounds import keep_rule
from aks_infiniband.facts.releases import DEFAULT_RELEASE, OPERATOR_RELEASES, Release
from aks_infiniband.facts.rules import Labels
from aks_infiniband.facts.versions import DRA_DRIVER_CHART, Chart
from aks_infiniband.operators import dra_driver, existing_gpu_operator, gpu_operator, network_operator
from aks_infiniband.operators.release import OperatorArgs, OperatorOptions
from aks_infiniband.provider.arguments import chart_of, pools_of, taken
from aks_infiniband.provider.inputs import OperatorInputs, describes
from aks_infiniband.resources.registry import Registry

_Args = TypeVar("_Args", bound=OperatorArgs)


def operator(
    kind: type[_Args],
    inputs: Mapping[str, Any],
    chart: Chart,
    values: Callable[..., dict[str, Any]],
    *choices: str,
    **options: Any,
) -> _Args:
    """The arguments of an operator.

    chart: the default one. values: makes all Helm values of the release, of pools, further values, and its other
    arguments. choices: inputs that it takes as they are, if they are given. options: its other arguments.
    """
    pools = pools_of(inputs["pools"])
    keep_rule(Labels, inputs.get("system_node_selector"), "systemNodeSelector")
    chosen = {key: inputs[key] for key in ("system_node_selector", *choices) if key in inputs}
    made = values(pools, given=inputs.get("values", {}), **chosen, **options)
    return taken(kind, inputs, pools=pools, chart=chart_of(inputs.get("chart"), chart), values=made)


def registry(inputs: Mapping[str, Any]) -> Registry:
    """The source of images."""
    return Registry(**inputs.get("registry", {}))


def _release(inputs: Mapping[str, Any]) -> Release:
    return OPERATOR_RELEASES[inputs["release"]] if "release" in inputs else DEFAULT_RELEASE


@describes(network_operator.NetworkOperatorArgs, OperatorInputs)
class NetworkOperatorInputs(TypedDict):
    """The inputs of a NetworkOperator."""

    feature_discovery: NotRequired[bool]
    """False if the cluster has a Node Feature Discovery already. Default: true."""


class NetworkOperator(network_operator.NetworkOperator):
    """NVIDIA Network Operator, ready, and the definitions of its custom resources."""

    def __init__(self, name: str, args: NetworkOperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = operator(
            network_operator.NetworkOperatorArgs,
            args,
            _release(args).network_operator.chart,
            network_operator.network_operator_values,
            "feature_discovery",
            registry=registry(args),
        )
        super().__init__(name, args=arguments, opts=opts)


@describes(gpu_operator.GpuOperatorArgs, OperatorOptions, OperatorInputs, without=("turns",))
class GpuOperatorInputs(TypedDict):
    """The inputs of a GpuOperator."""

    metrics: NotRequired[bool]
    """True if the metrics of the GPUs are read, as with Observability. Default: false."""
    accept_visible_devices_envvar: NotRequired[bool]
    """True if containers without privileges may name GPUs by a variable. Default: false."""


class GpuOperator(gpu_operator.GpuOperator):
    """NVIDIA GPU Operator and its ClusterPolicy, both ready."""

    release: Any
    """ID of the Helm release."""

    def __init__(self, name: str, args: GpuOperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = operator(
            gpu_operator.GpuOperatorArgs,
            args,
            _release(args).gpu_operator.chart,
            gpu_operator.gpu_operator_values,
            "metrics",
            "accept_visible_devices_envvar",
            options=taken(OperatorOptions, args),
        )
        super().__init__(name, args=arguments, opts=opts)
        self.release = self.release.id


@describes(existing_gpu_operator.ExistingGpuOperatorArgs)
class ExistingGpuOperatorInputs(TypedDict):
    """The inputs of an ExistingGpuOperator. Without a kubeconfig nothing is looked at."""


class ExistingGpuOperator(existing_gpu_operator.ExistingGpuOperator):
    """A GPU Operator that others keep, once its ClusterPolicy says ready. Nothing of it is made or changed."""

    ready: pulumi.Output[Any]
    """URN of this component, known once the operator is ready."""

    def __init__(self, name: str, args: ExistingGpuOperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(existing_gpu_operator.ExistingGpuOperatorArgs, args), opts=opts)
        self.ready = self.ready.apply(lambda resource: resource.urn)


class DraDriver(dra_driver.DraDriver):
    """NVIDIA's DRA driver for GPUs, by which pods reach GPUs of other machines by NVLink (GB200, GB300).

    Give the pools as dependsOn: the plugins on machines that are there are waited for.
    """

    release: Any
    """ID of the Helm release."""

    def __init__(self, name: str, args: OperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = operator(
            dra_driver.DraDriverArgs, args, DRA_DRIVER_CHART, dra_driver.dra_driver_values, registry=registry(args)
        )
        super().__init__(name, args=arguments, opts=opts)
        self.release = self.release.id
