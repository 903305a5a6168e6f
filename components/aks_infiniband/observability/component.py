"""The component: exporter, monitors, rules and dashboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.pool import Pool
from aks_infiniband.observability import documents
from aks_infiniband.observability.dashboard import dashboard
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE, labels
from aks_infiniband.resources.options import WaitArgs, child_options, timeout_annotation
from aks_infiniband.resources.registry import SOURCES, Registry


@dataclass(frozen=True, kw_only=True)
class ObservabilityArgs(WaitArgs):
    """The inputs of an Observability. The component waits for the exporter's pods on the nodes that are there, and
    nothing else.

    All is put into the namespace aks-infiniband-system, which must be there and admit host paths.
    """

    pools: Sequence[Pool]
    """The pools whose HCAs are watched."""
    prometheus: documents.Prometheus
    """The Prometheus that reads the monitors; the cluster must have its definitions already."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels by which that Prometheus selects monitors and rules."""
    gpus: bool = False
    """True if the GPU Operator, and with it DCGM exporter, is in the cluster."""
    registry: Registry = SOURCES
    """The source of the exporter's image. Default: the place at which its makers publish it."""


class Observability(pulumi.ComponentResource):
    """InfiniBand and GPUs in a Prometheus and a Grafana that others keep.

    Azure Managed Prometheus takes no rules from a cluster, so there the alerts are left out.
    """

    def __init__(self, name: str, *, args: ObservabilityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:Observability", name, None, opts)
        self._name, self._args, self._opts = name, args, child_options(self, opts)
        expected = self._config_map("expected", documents.EXPORTER, documents.expected(args.pools), {})
        board = {"aks-infiniband.json": dashboard()}
        self._config_map("dashboard", "aks-infiniband-dashboard", board, {"grafana_dashboard": "1"})
        for pool in args.pools:
            self._exporter(pool, expected, opts)
        for part, spec in documents.monitors(gpus=args.gpus).items():
            self._custom(part, "PodMonitor", spec)
        if args.prometheus == "kube-prometheus":
            self._custom("alerts", "PrometheusRule", documents.rules())
        self.register_outputs({})

    def _config_map(
        self, part: str, name: str, data: Mapping[str, str], more: Mapping[str, str]
    ) -> kubernetes.core.v1.ConfigMap:
        described: Any = {"name": name, "namespace": SYSTEM_NAMESPACE, "labels": {**labels(name, "metrics"), **more}}
        return kubernetes.core.v1.ConfigMap(
            f"{self._name}-{part}", metadata=described, data=dict(data), opts=self._opts
        )

    def _exporter(self, pool: Pool, after: pulumi.Resource, opts: pulumi.ResourceOptions | None) -> None:
        resource = f"{self._name}-{pool.name}"
        described: Any = {
            "name": f"{documents.EXPORTER}-{pool.name}",
            "namespace": SYSTEM_NAMESPACE,
            "labels": documents.exporter_labels(pool),
            "annotations": timeout_annotation(self._args),
        }
        spec: Any = documents.exporter_spec(pool, self._args.registry)
        waiting = diagnosis.Waiting(component=self, opts=opts, args=self._args, pools=[pool])
        kubernetes.apps.v1.DaemonSet(
            resource,
            metadata=described,
            spec=spec,
            opts=waiting.child_options(resource, "daemon-set", depends_on=[after]),
        )

    def _custom(self, part: str, kind: str, spec: Mapping[str, Any]) -> None:
        name = f"aks-infiniband-{part}"
        described: Any = {
            "name": name,
            "namespace": SYSTEM_NAMESPACE,
            "labels": {**labels(name, "metrics"), **self._args.labels},
        }
        kubernetes.apiextensions.CustomResource(
            f"{self._name}-{part}",
            api_version=documents.GROUPS[self._args.prometheus],
            kind=kind,
            metadata=described,
            spec=dict(spec),
            opts=self._opts,
        )
