"""A check that a cluster has the definitions that an existing Prometheus brings, before anything is made in the
cluster.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.observability.documents import GROUPS, Prometheus

KINDS: Final[Mapping[Prometheus, Mapping[str, str]]] = {
    "kube-prometheus": {"PodMonitor": "podmonitors", "PrometheusRule": "prometheusrules"},
    "azure": {"PodMonitor": "podmonitors"},
}
"""The kinds of objects that an Observability makes, with their plurals."""
BRING: Final[Mapping[Prometheus, str]] = {
    "kube-prometheus": "helm install monitoring kube-prometheus-stack --namespace monitoring --create-namespace --repo "
    "https://prometheus-community.github.io/helm-charts",
    "azure": "az aks update --enable-azure-monitor-metrics --name CLUSTER --resource-group GROUP",
}
"""The command that brings them: charts/kube-prometheus-stack/README.md of prometheus-community/helm-charts 0001b62, and
MicrosoftDocs/azure-monitor-docs 005411c, kubernetes-monitoring-enable.md of 2026-08-18; read 2026-11-23, not run."""
_LIMIT_SECONDS: Final = 30.0


class DefinitionsError(pulumi.RunError):
    """A cluster without them; the text names each, and what to do."""


def absent(kubeconfig: str, prometheus: Prometheus) -> tuple[list[str], list[str]]:
    """The kinds without a definition in a cluster, and the reason why it could not be read."""
    from aks_infiniband.diagnosis.collect import absent_kinds  # noqa: PLC0415  a client takes long to load

    return absent_kinds(kubeconfig, GROUPS[prometheus], KINDS[prometheus], limit_seconds=_LIMIT_SECONDS)


async def required(kubeconfig: str, prometheus: Prometheus) -> str:
    """The kubeconfig of a cluster that has them, or cannot be read. Raises DefinitionsError for one that has not.

    Otherwise the Kubernetes provider would look for them for a minute, after the machines were made.
    """
    kinds, _ = await within_limit(lambda: absent(kubeconfig, prometheus), _LIMIT_SECONDS) or ([], [])
    if not kinds:
        return kubeconfig
    raise DefinitionsError(
        f"the cluster has {lacking(prometheus, kinds)}, which aks-infiniband:observability needs: "
        f"{BRING[prometheus]}; or leave the setting out until they are there. Then pulumi up, which continues from here"
    )


def lacking(prometheus: Prometheus, kinds: Iterable[str]) -> str:
    """The words for the kinds that a cluster lacks."""
    return f"no {' and no '.join(kinds)} of {GROUPS[prometheus]}"
