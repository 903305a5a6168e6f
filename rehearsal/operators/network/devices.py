"""The device plugins' and the telemetry's DaemonSets, which run on nodes with the OFED driver."""

import hashlib
import json
from typing import Final

from rehearsal.operators.network.parts import AFTER_OFED, Context, config_volume, resources
from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.workloads import config_map, workload

_CONFIG_HASH: Final = "nvidia.network-operator.config-hash"
_TELEMETRY_CONFIG: Final = "doca-telemetry-service"


def rdma_shared_device_plugin(section: Document, context: Context) -> list[Document]:
    """ConfigMap `rdma-devices`, when the policy has its content, and DaemonSet `rdma-shared-dp-ds`."""
    name = f"rdma-devices{context.suffix}"
    config, config_mount = config_volume("config", name, "config.json", "/k8s-rdma-shared-dev-plugin")
    container = without_empty(
        {
            "name": "rdma-shared-dp",
            "image": context.image("rdmaSharedDevicePlugin", section),
            "args": ["--use-cdi"] if section.get("useCdi") else None,
            # Registers devices with the kubelet.
            "securityContext": {"privileged": True},
            "resources": resources(section, "rdma-shared-dp"),
            "volumeMounts": [config_mount],
        }
    )
    pod = {
        **context.on_nodes(section, selector=AFTER_OFED, critical=True),
        "containers": [container],
        "volumes": [config],
    }
    return [
        *_given(name, section),
        *_restarted(section, workload("rdma-shared-dp-ds{suffix}", pod=pod, fields=context.fields)),
    ]


def sriov_device_plugin(section: Document, context: Context) -> list[Document]:
    """ConfigMap `network-operator-sriovdp-config`, when the policy has its content, and the plugin's DaemonSet."""
    name = f"network-operator-sriovdp-config{context.suffix}"
    config, config_mount = config_volume("config-volume", name, "config.json", "/etc/pcidp")
    container = without_empty(
        {
            "name": "kube-sriovdp",
            "image": context.image("sriovDevicePlugin", section),
            "args": ["--log-dir=sriovdp", "--log-level=10", *(["--use-cdi"] if section.get("useCdi") else [])],
            # Registers devices with the kubelet.
            "securityContext": {"privileged": True},
            "resources": resources(section, "kube-sriovdp"),
            "volumeMounts": [config_mount],
        }
    )
    pod = {
        **context.on_nodes(section, selector=AFTER_OFED, critical=True),
        "containers": [container],
        "volumes": [config],
    }
    made = workload("network-operator-sriov-device-plugin{suffix}", pod=pod, fields=context.fields)
    return [*_given(name, section), *_restarted(section, made)]


def _restarted(section: Document, made: list[Document]) -> list[Document]:
    """The workload with a hash of the configuration in its pods' template: another configuration restarts them
    (network-operator v26.4.1, pkg/state/state_skel.go, SetConfigHashAnnotation).
    """
    if section.get("config"):
        template = made[-1]["spec"]["template"]["metadata"]
        template["annotations"] = {_CONFIG_HASH: hashlib.sha256(section["config"].encode()).hexdigest()[:16]}
    return made


def _given(name: str, section: Document) -> list[Document]:
    """The ConfigMap with the policy's own text, which the operator writes compact if it is JSON."""
    if not section.get("config"):
        return []
    try:
        text = json.dumps(json.loads(section["config"]), separators=(",", ":"))
    except json.JSONDecodeError:
        text = section["config"]
    return [config_map(name, {"config.json": text})]


def doca_telemetry_service(section: Document, context: Context) -> list[Document]:
    """DaemonSet `doca-telemetry-service`, and a ConfigMap of the same name unless the policy names another."""
    named = (section.get("config") or {}).get("fromConfigMap")
    volume, key = "doca-telemetry-service-configmap", "dts_config_map.ini"
    config, config_mount = config_volume(volume, named or _TELEMETRY_CONFIG, key, "/config")
    container = {
        "name": "doca-telemetry-service",
        "image": context.image("docaTelemetryService", section),
        # Reads the adapters' counters.
        "securityContext": {"privileged": True},
        "resources": resources(section, "doca-telemetry-service"),
        "volumeMounts": [config_mount],
    }
    pod = {**context.on_nodes(section, selector=AFTER_OFED), "containers": [container], "volumes": [config]}
    own_config = [] if named else [config_map(_TELEMETRY_CONFIG, {key: "enable-provider=sysfs\n"})]
    return [*own_config, *workload("doca-telemetry-service", pod=pod)]
