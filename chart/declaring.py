"""The components' declarations for some pools, as documents that Helm installs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from aks_infiniband.facts.pool import Pool
from aks_infiniband.light_check.component import LightCheck, LightCheckArgs
from aks_infiniband.observability.component import Observability, ObservabilityArgs
from aks_infiniband.observability.documents import Prometheus
from aks_infiniband.resources.metadata import DEPLOYERS, MANAGED_BY
from aks_infiniband.resources.registry import SOURCES, Registry
from aks_infiniband.validation.access import ValidationAccess, ValidationAccessArgs
from aks_infiniband.validation.component import Validation, ValidationArgs
from aks_infiniband.validation.options import ValidationOptions

from declared.program import KUBECONFIG, kubernetes_objects

Part = Literal["validation", "lightCheck", "observability"]
_OF_PULUMI: Final = ("pulumi.com/", "aks-infiniband/stack")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The choices of a values file, without the pools."""

    validation: ValidationOptions = field(default_factory=ValidationOptions)
    schedule: str = "17 * * * *"
    prometheus: Prometheus = "kube-prometheus"
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels of the monitors."""
    registry: Registry = SOURCES


def declared(part: Part, pools: Sequence[Pool], asked: Asked) -> list[dict[str, Any]]:
    """The documents of one part of the chart for these pools."""

    def program() -> None:
        if part == "validation":
            access = ValidationAccess("access", args=ValidationAccessArgs(pools=pools))
            for pool in pools:
                args = ValidationArgs(
                    pool=pool, options=asked.validation, access=access, registry=asked.registry, kubeconfig=KUBECONFIG
                )
                Validation(pool.name, args=args)
        elif part == "lightCheck":
            # No resource says which node is idle in mode driver-only.
            idle = [pool for pool in pools if not pool.access.privileged]
            LightCheck("check", args=LightCheckArgs(pools=idle, schedule=asked.schedule, registry=asked.registry))
        else:
            watched = ObservabilityArgs(
                pools=pools, prometheus=asked.prometheus, labels=asked.labels, registry=asked.registry
            )
            Observability("watch", args=watched)

    return [_of_helm(document) for document in _objects(kubernetes_objects(program))]


def _objects(documents: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """The objects that an API server knows, without a Stash of the engine."""
    return (document for document in documents if "kind" in document)


def _of_helm(node: Any) -> Any:
    """A document without what concerns Pulumi's engine, and with Helm as the manager."""
    if isinstance(node, list):
        return [_of_helm(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _of_helm(value) for key, value in node.items() if not key.startswith(_OF_PULUMI)}
    if MANAGED_BY in kept:
        kept[MANAGED_BY] = DEPLOYERS[1]
    if kept.get("annotations") == {}:
        del kept["annotations"]
    return kept
