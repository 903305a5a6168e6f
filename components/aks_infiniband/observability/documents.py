"""The component's declarations, as plain documents: exporter, monitors and rules."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from aks_infiniband.facts import versions
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.tables import table
from aks_infiniband.hosts.node_daemon import SMALL, UNPRIVILEGED, daemon_set_spec
from aks_infiniband.resources import metadata
from aks_infiniband.resources.registry import Registry

Prometheus = Literal["kube-prometheus", "azure"]
"""The Prometheus that reads the monitors: the Prometheus Operator's, or Azure Managed Prometheus."""
GROUPS: Final[Mapping[Prometheus, str]] = {
    "kube-prometheus": "monitoring.coreos.com/v1",
    "azure": "azmonitoring.coreos.com/v1",
}
"""API of its monitors: the same definitions in another group (MicrosoftDocs/azure-monitor-docs of 2025-08-25,
prometheus-metrics-scrape-crd.md)."""
EXPORTER: Final = "infiniband-exporter"
"""Name of the exporter's pods, and of what goes with them."""
_POOL: Final = "aks-infiniband/pool"
_PORT: Final = 9100
_LIMITS: Final = {"labelLimit": 63, "labelNameLengthLimit": 511, "labelValueLengthLimit": 1023}
"""Without them Azure's add-on drops metrics (the same page)."""
_SEVERITIES: Final = {"critical": 0, "warning": 2}
"""Azure's numbers for them (Microsoft Learn, KnownAlertSeverity of @azure/arm-cloudhealth, read 2026-11-22)."""
_EXPECTED: Final = """\
# HELP aks_infiniband_expected_hcas HCAs that a machine of this size has.
# TYPE aks_infiniband_expected_hcas gauge
aks_infiniband_expected_hcas {hcas}
# HELP aks_infiniband_expected_rate_bytes_per_second Signalling rate of one of its ports.
# TYPE aks_infiniband_expected_rate_bytes_per_second gauge
aks_infiniband_expected_rate_bytes_per_second {rate:g}
"""


def expected(pools: Sequence[Pool]) -> dict[str, str]:
    """By file, the expected values of each pool's machines: metrics that the exporter hands on in addition to
    its own.
    """
    return {
        f"{pool.name}.prom": _EXPECTED.format(
            hcas=pool.size.infiniband.hca_count, rate=pool.size.infiniband.rate_gbps * 1e9 / 8
        )
        for pool in pools
    }


def exporter_labels(pool: Pool) -> dict[str, str]:
    """Labels of the exporter's pods on a pool's nodes."""
    return {**metadata.labels(EXPORTER, "metrics"), _POOL: pool.name}


def exporter_spec(pool: Pool, registry: Registry) -> dict[str, Any]:
    """The spec of the DaemonSet that reads the counters of a pool's HCAs, without privileges, from the machine's sysfs.

    The exporter is node_exporter with the one collector that counts. The DOCA telemetry service, which the
    NicClusterPolicy starts on amd64, counts too, but no public source says what it calls its metrics.
    """
    mounts = {"sys": "/host/sys", "expected": "/expected"}
    container = {
        "name": EXPORTER,
        "image": registry.image(versions.NODE_EXPORTER.reference),
        "args": [
            *("--collector.disable-defaults", "--collector.infiniband", "--collector.textfile"),
            *("--path.sysfs=/host/sys", "--collector.textfile.directory=/expected"),
            f"--web.listen-address=:{_PORT}",
        ],
        "ports": [{"name": "metrics", "containerPort": _PORT}],
        "readinessProbe": {"httpGet": {"path": "/", "port": "metrics"}},
        "resources": SMALL,
        "securityContext": UNPRIVILEGED,
        "volumeMounts": [{"name": name, "mountPath": path, "readOnly": True} for name, path in mounts.items()],
    }
    file = f"{pool.name}.prom"
    pod = {
        "containers": [container],
        "volumes": [
            {"name": "sys", "hostPath": {"path": "/sys", "type": "Directory"}},
            {"name": "expected", "configMap": {"name": EXPORTER, "items": [{"key": file, "path": file}]}},
        ],
    }
    told = ("app.kubernetes.io/name", _POOL)
    return daemon_set_spec(
        [pool], exporter_labels(pool), pod, registry=registry, max_unavailable="10%", selected_by=told
    )


def monitors(*, gpus: bool) -> dict[str, dict[str, Any]]:
    """The specs of the PodMonitors, by the part that they watch.

    gpus: whether the GPU Operator is there, whose chart brings DCGM exporter (GPU Operator v26.3.3,
        assets/state-dcgm-exporter/0800_daemonset.yaml: its label and the port's name).
    """
    app, system = "app.kubernetes.io/name", metadata.SYSTEM_NAMESPACE
    node = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    pool = {"sourceLabels": ["__meta_kubernetes_pod_label_aks_infiniband_pool"], "targetLabel": "pool"}
    by_name = {
        "hcas": _monitor("hcas", system, {app: EXPORTER}, node, pool),
        # Its metrics say pool and node themselves.
        "light-check": _monitor("light-check", system, {app: "light-check", "app.kubernetes.io/component": "exporter"}),
    }
    if gpus:
        by_name["gpus"] = _monitor("gpus", metadata.GPU_OPERATOR_NAMESPACE, {"app": "nvidia-dcgm-exporter"}, node)
    return by_name


def _monitor(part: str, namespace: str, labels: Mapping[str, str], *relabelings: dict[str, Any]) -> dict[str, Any]:
    """No replacement has a $, because Azure's collector takes it for one of its variables.

    Each action is written out, though it is the default: another manager would conflict with what the server fills in.
    """
    job = {"targetLabel": "job", "replacement": f"aks-infiniband-{part}"}
    written = [{"action": "replace", **relabeling} for relabeling in (*relabelings, job)]
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": dict(labels)},
        "podMetricsEndpoints": [{"port": "metrics", "interval": "30s", "honorLabels": True, "relabelings": written}],
        **_LIMITS,
    }


def rules() -> dict[str, Any]:
    """The spec of the PrometheusRule."""
    spec: dict[str, Any] = table(__package__, "alerts.yaml")
    return spec


def azure_rule_groups() -> dict[str, list[dict[str, Any]]]:
    """By group, the same alerts as arguments of azure-native's PrometheusRule; they resolve as Microsoft's recommended
    ones do (Azure/prometheus-collector 39583fd, AddonBicepTemplate/recommendedMetricAlerts.bicep).
    """
    return {group["name"]: [_azure_rule(rule) for rule in group["rules"]] for group in rules()["groups"]}


def _azure_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: rule[key] for key in ("alert", "labels", "annotations")},
        **({"for_": f"PT{rule['for'].upper()}"} if "for" in rule else {}),
        "expression": rule["expr"],
        "severity": _SEVERITIES[rule["labels"]["severity"]],
        "resolve_configuration": {"auto_resolved": True, "time_to_resolve": "PT10M"},
    }
