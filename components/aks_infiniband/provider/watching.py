"""The components that measure and watch machines, for every language."""

from typing import TypedDict

import pulumi

from aks_infiniband import light_check, observability, validation
from aks_infiniband.provider.arguments import section, taken
from aks_infiniband.provider.enumerations import Unread, ValidationMode
from aks_infiniband.provider.inputs import describes


@describes(
    *(validation.ValidationArgs, validation.ValidationOptions),
    without=("options", "access", "turns"),
    typed={"mode": ValidationMode, "error_counters": Unread},
)
class ValidationInputs(TypedDict):
    """The inputs of a Validation."""


class Validation(validation.Validation):
    """Proves that every node of a pool does what its size promises."""

    def __init__(self, name: str, args: ValidationInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        options = section(validation.ValidationOptions, args)
        super().__init__(name, args=taken(validation.ValidationArgs, args, options=options), opts=opts)


@describes(light_check.LightCheckArgs, typed={"error_counters": Unread})
class LightCheckInputs(TypedDict):
    """The inputs of a LightCheck."""


class LightCheck(light_check.LightCheck):
    """Looks at idle nodes on a schedule: links, error counters, and the bandwidth of RDMA writes between them."""

    def __init__(self, name: str, args: LightCheckInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(light_check.LightCheckArgs, args), opts=opts)


@describes(observability.ObservabilityArgs)
class ObservabilityInputs(TypedDict):
    """The inputs of an Observability. The component needs the namespace aks-infiniband-system, which admits
    host paths.
    """


class Observability(observability.Observability):
    """InfiniBand and GPUs in a Prometheus and a Grafana that are there."""

    def __init__(self, name: str, args: ObservabilityInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args=taken(observability.ObservabilityArgs, args), opts=opts)
