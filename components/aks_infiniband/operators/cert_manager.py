"""cert-manager: what AMD's Kernel Module Management gets its webhook's certificate from. Nothing else here needs it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import pulumi

from aks_infiniband.facts.amd import CERT_MANAGER_CHART
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators import charts
from aks_infiniband.operators.release import SYSTEM_POOL, OperatorArgs, install_operator, system_node_affinity
from aks_infiniband.resources import metadata
from aks_infiniband.resources.registry import SOURCES, Registry

_PARTS: Final = {"": "controller", "webhook": "webhook", "cainjector": "cainjector"}
"""Sections of the chart's values, and what their images are called."""
_IMAGES: Final = "quay.io/jetstack/cert-manager"


def cert_manager_values(
    pools: Sequence[Pool],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    system_node_selector: Mapping[str, str] = SYSTEM_POOL,
    registry: Registry = SOURCES,
) -> dict[str, Any]:
    """The chart's Helm values: its definitions with it, and its pods on no node of the pools.

    Raises charts.ValuesError for a given value that contradicts what follows from the pools.
    """
    values: dict[str, Any] = {"crds": {"enabled": True}, "startupapicheck": {"enabled": False}}
    for section, image in _PARTS.items():
        part: dict[str, Any] = {"affinity": system_node_affinity(system_node_selector, pools)}
        if registry.images is not None:
            part["image"] = {"repository": registry.image(f"{_IMAGES}-{image}")}
        values = charts.over(values, {section: part} if section else part)
    if registry.pull_secret:
        values["global"] = {"imagePullSecrets": registry.pull_secrets()}
    return charts.merge(given, values, chart=CERT_MANAGER_CHART.name)


def cert_manager_images(registry: Registry) -> list[str]:
    """The images of the pinned chart. Without a tag an image has the chart's appVersion, and public lists of images
    name the same for the chart v1.21.2 (cert-manager, values.yaml, read 2026-11-28).
    """
    return [registry.image(f"{_IMAGES}-{image}:{CERT_MANAGER_CHART.version}") for image in _PARTS.values()]


@dataclass(frozen=True, kw_only=True)
class CertManagerArgs(OperatorArgs):
    """The arguments of a CertManager."""

    chart: charts.ChartSource = field(default_factory=lambda: charts.chart_source(CERT_MANAGER_CHART))
    """The chart; that of its makers by default."""


class CertManager(pulumi.ComponentResource):
    """Its controllers, ready, and its definitions."""

    def __init__(self, name: str, *, args: CertManagerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = cert_manager_values(args.pools) if args.values is None else args.values
        super().__init__("aks-infiniband:index:CertManager", name, None, opts)
        install_operator(name, metadata.CERT_MANAGER_NAMESPACE, args, values=values, parent=self, opts=opts)
        self.register_outputs({})
