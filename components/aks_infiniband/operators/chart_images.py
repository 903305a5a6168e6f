"""The Helm values that name the images of both operators' charts, so that all of them can come from one registry."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.tables import table
from aks_infiniband.operators.charts import over
from aks_infiniband.resources.registry import Registry

IMAGES: Final[Mapping[str, Mapping[str, Any]]] = table(__package__, "chart_images.yaml")
"""By chart, its values that name a repository of images, each with the chart's own default."""


def network_operator_images(registry: Registry) -> dict[str, Any]:
    """The Network Operator chart's values for a registry; none where images stay at their sources."""
    values = _from(registry, IMAGES["network-operator"])
    if registry.pull_secret is None:
        return values
    discovery = {"imagePullSecrets": registry.pull_secrets()}
    return over(values, {"imagePullSecrets": [registry.pull_secret], "node-feature-discovery": discovery})


def gpu_operator_images(registry: Registry) -> dict[str, Any]:
    """The GPU Operator chart's values for a registry; none where images stay at their sources."""
    parts = IMAGES["gpu-operator"]
    values = _from(registry, parts)
    if registry.pull_secret is None:
        return values
    secret = {"imagePullSecrets": [registry.pull_secret]}
    return over(values, {part: secret for part, own in parts.items() if "repository" in own})


def _from(registry: Registry, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the registry's repositories in place of the chart's own."""
    if registry.images is None:
        return {}
    return {key: registry.image(own) if isinstance(own, str) else _from(registry, own) for key, own in values.items()}
