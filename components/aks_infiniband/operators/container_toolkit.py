"""Settings of the GPU Operator's container toolkit: how it finds containerd, and which containers get GPUs."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.operators import charts

RUNTIME_CONFIG: Final = {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}
"""Variable of the toolkit. AKS with containerd 2: reading the running configuration, it writes a drop-in of a version
that containerd does not take, and the node goes NotReady (GPU Operator issue 2646)."""
BY_VARIABLE: Final = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
"""Variable of the toolkit, true by default: whether a container without CAP_SYS_ADMIN gets the GPUs that its
NVIDIA_VISIBLE_DEVICES names (nvidia-container-toolkit v1.20.0, internal/config/image). With the operator's toolkit that
is one with the runtime class nvidia (NVIDIA/aicr issue 1354, 2026-06-14). The operator's own containers that read the
variable are privileged (gpu-operator v26.3.3 and v26.7.0, assets)."""


def toolkit_values(*, by_variable: bool) -> dict[str, Any]:
    """The chart's values of a toolkit that the operator installs. by_variable: whom BY_VARIABLE is about get GPUs."""
    hardening = [] if by_variable else [{"name": BY_VARIABLE, "value": "false"}]
    return {"enabled": True, "env": [dict(RUNTIME_CONFIG), *hardening]}


def check_strategy(values: Mapping[str, Any]) -> None:
    """Check that the device plugin hands GPUs out through CDI, as it does by default (gpu-operator v26.7.0,
    controllers/object_controls.go): otherwise no program would read the variable, or the volumes.

    values: those that people gave to Helm. Raises charts.ValuesError.
    """
    variables = (values.get("devicePlugin") or {}).get("env") or []
    for strategy in (str(each.get("value")) for each in variables if each.get("name") == "DEVICE_LIST_STRATEGY"):
        if "cdi-" not in strategy:
            reason = (
                f"has DEVICE_LIST_STRATEGY {strategy!r}, by which no pod would get a GPU: leave it out, or set "
                "gpuOperator.acceptVisibleDevicesEnvvar to true"
            )
            raise charts.ValuesError(f"devicePlugin.env {reason}", [("values.devicePlugin.env", reason)])
