"""The DaemonSets that AMD's GPU Operator makes of a DeviceConfig (ROCm/gpu-operator v1.5.1, internal/plugin,
internal/nodelabeller, internal/metricsexporter).
"""

from typing import Final

from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.workloads import REQUESTS

READY_LABEL: Final = "kmm.node.kubernetes.io/{namespace}.{name}.ready"
"""KMM's label of a node on which the driver of a DeviceConfig is loaded."""
_ACCOUNTS: Final = {
    "device-plugin": "amd-gpu-operator-kmm-device-plugin",
    "node-labeller": "amd-gpu-operator-node-labeller",
    "metrics-exporter": "amd-gpu-operator-metrics-exporter",
}
_HOST_PATHS: Final = {
    "device-plugin": {"kubelet-device-plugins": "/var/lib/kubelet/device-plugins", "sys": "/sys"},
    "node-labeller": {"dev-volume": "/dev", "sys-volume": "/sys"},
    "metrics-exporter": {"dev-volume": "/dev", "sys-volume": "/sys", "pod-resources": "/var/lib/kubelet/pod-resources"},
}


def driven(config: Document) -> bool:
    """True if the operator installs the driver; silence means yes (api/v1alpha1, DriverSpec)."""
    return bool((config["spec"].get("driver") or {}).get("enable", True))


def daemon_sets(config: Document) -> list[Document]:
    """All that a DeviceConfig requires. The node labeller alone does not wait for KMM's label of the node."""
    plugin, exporter = (config["spec"].get(key) or {} for key in ("devicePlugin", "metricsExporter"))
    made = []
    if plugin.get("enableDevicePlugin", True):
        part = ("device-plugin", "device-plugin", plugin.get("devicePluginImage"))
        made.append(_daemon_set(config, *part, plugin.get("devicePluginTolerations")))
    if plugin.get("enableNodeLabeller", True):
        part = ("node-labeller", "node-labeller-container", plugin.get("nodeLabellerImage"))
        made.append(_daemon_set(config, *part, plugin.get("nodeLabellerTolerations")))
    if exporter.get("enable"):
        part = ("metrics-exporter", "metrics-exporter-container", exporter.get("image"))
        made.append(_daemon_set(config, *part, exporter.get("tolerations")))
    return made


def _daemon_set(
    config: Document, part: str, container: str, image: str | None, tolerations: list[Document] | None
) -> Document:
    """One DaemonSet. Device plugin and labeller have the same labels: only names distinguish their pods."""
    name, namespace, common = config["metadata"]["name"], config["metadata"]["namespace"], _common(config)
    selector = dict(config["spec"].get("selector") or {})
    if driven(config) and part != "node-labeller":
        selector[READY_LABEL.format(namespace=namespace, name=name)] = ""
    labels = {"daemonset-name": name}
    if part == "metrics-exporter":
        labels |= {"app.kubernetes.io/name": part}
    privileged = {"securityContext": {"privileged": True}, "resources": REQUESTS}
    pod = without_empty(
        {
            "serviceAccountName": _ACCOUNTS[part],
            "priorityClassName": "system-node-critical",
            "nodeSelector": selector,
            "tolerations": tolerations,
            "imagePullSecrets": common.get("imageRegistrySecrets"),
            "initContainers": [
                {"name": "driver-init", "image": common.get("initContainerImage") or "busybox:1.36", **privileged}
            ],
            "containers": [{"name": container, "image": image or f"docker.io/rocm/{part}:latest", **privileged}],
            "volumes": [{"name": key, "hostPath": {"path": path}} for key, path in _HOST_PATHS[part].items()],
        }
    )
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": f"{name}-{part}", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            "updateStrategy": {"type": "RollingUpdate"},
        },
    }


def _common(config: Document) -> Document:
    common: Document = config["spec"].get("commonConfig") or {}
    return common
