"""What measures and watches machines, for every language."""

from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband import light_check, observability, validation
from aks_infiniband.provider.arguments import section, taken
from aks_infiniband.provider.enumerations import Prometheus, Sweep, Unread, ValidationMode
from aks_infiniband.provider.inputs import (
    PoolDescription,
    RegistryDescription,
    ThresholdDescription,
    WaitInputs,
    WaitsDescription,
)


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
    image: NotRequired[str]
    """Image of its pods. Default: by pool."""
    timeout_seconds: NotRequired[float]
    """Time limit of the check, which begins when the nodes are ready. Default: 1800."""
    tries: NotRequired[int]
    """How many times a measurement is made, at most, before its failure counts. Default: 3."""
    sweep: NotRequired[Sweep]
    """Message sizes of the all-reduce. Default: short."""
    burn_in: NotRequired[int]
    """For how many minutes all GPUs are loaded at once. Default: some seconds."""
    error_counters: NotRequired[Unread]
    """What follows where the error counters of a port cannot be read. Default: warn."""
    thresholds: NotRequired[dict[str, ThresholdDescription]]
    """Bounds that replace those of the catalogue, by figure, such as rdma-write-bandwidth."""
    waits: NotRequired[WaitsDescription]
    """How long the nodes are awaited first, and how often they are looked at."""
    registry: NotRequired[RegistryDescription]
    """Where images come from. Default: from where their makers publish them."""
    node_preparation: NotRequired[bool]
    """Whether the nodes are prepared by NodePreparation with memlock. Default: false."""
    revalidate_when: NotRequired[dict[str, Any]]
    """Facts beside the pool, such as driver versions. When one changes, the validation runs again."""


class Validation(validation.Validation):
    """Proves that every node of a pool does what its size promises."""

    def __init__(self, name: str, args: ValidationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        options = section(validation.ValidationOptions, args)
        super().__init__(name, args=taken(validation.ValidationArgs, args, options=options), opts=opts)


class LightCheckInputs(TypedDict):
    """What a LightCheck takes."""

    pools: list[PoolDescription]
    """The pools that are checked; none in mode driver-only."""
    schedule: str
    """When, in the five fields of cron, by the clock of the control plane: UTC on AKS."""
    thresholds: NotRequired[dict[str, ThresholdDescription]]
    """Bounds that replace those of the catalogue, by figure; rdma-write-bandwidth is measured."""
    error_counters: NotRequired[Unread]
    """What happens to a node whose error counters cannot be read. Default: warn."""
    namespace: NotRequired[str]
    """Namespace of all that it makes. It has to exist; no workload belongs there. Default: aks-infiniband-system."""
    registry: NotRequired[RegistryDescription]
    """Where images come from. Default: from where their makers publish them."""


class LightCheck(light_check.LightCheck):
    """Looks at idle nodes on a schedule: links, error counters, and the bandwidth of RDMA writes between them."""

    def __init__(self, name: str, args: LightCheckInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(light_check.LightCheckArgs, args), opts=opts)


class ObservabilityInputs(WaitInputs):
    """What an Observability takes. It needs the namespace aks-infiniband-system, which admits host paths."""

    pools: list[PoolDescription]
    """The pools whose adapters are watched."""
    prometheus: Prometheus
    """Whose Prometheus reads the monitors. The cluster must have its definitions already."""
    labels: NotRequired[dict[str, str]]
    """Labels by which that Prometheus selects monitors and rules."""
    gpus: NotRequired[bool]
    """Whether the GPU Operator, and with it DCGM exporter, is in the cluster. Default: false."""
    registry: NotRequired[RegistryDescription]
    """Where the image of the exporter comes from. Default: from where its makers publish it."""


class Observability(observability.Observability):
    """InfiniBand and GPUs in a Prometheus and a Grafana that are there."""

    def __init__(self, name: str, args: ObservabilityInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(observability.ObservabilityArgs, args), opts=opts)
