"""The device plugins' and the telemetry's DaemonSets: what runs where the OFED driver is in place."""

from rehearsal.operators.network.parts import AFTER_OFED, OWNER_LABEL, Context, config_volume, host_path, resources
from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.workloads import config_map, daemon_set

_TELEMETRY_CONFIG = "doca-telemetry-service"


def rdma_shared_device_plugin(section: Document, context: Context) -> list[Document]:
    """ConfigMap `rdma-devices`, when the policy has its content, and DaemonSet `rdma-shared-dp-ds`."""
    name, app = f"rdma-devices{context.suffix}", f"rdma-shared-dp{context.suffix}"
    config, config_mount = config_volume("config", name, "config.json", "/k8s-rdma-shared-dev-plugin")
    plugins, plugins_mount = host_path("device-plugin", "/var/lib/kubelet/device-plugins")
    container = without_empty(
        {
            "name": "rdma-shared-dp",
            "image": context.image("rdmaSharedDevicePlugin", section),
            "args": ["--use-cdi"] if section.get("useCdi") else None,
            # Registers devices with the kubelet.
            "securityContext": {"privileged": True},
            "resources": resources(section, "rdma-shared-dp"),
            "volumeMounts": [plugins_mount, config_mount],
        }
    )
    pod = {
        **context.on_nodes(section, selector=AFTER_OFED),
        "containers": [container],
        "volumes": [plugins, config],
    }
    workload = daemon_set(
        f"rdma-shared-dp-ds{context.suffix}",
        selector={"app": app},
        labels={OWNER_LABEL: context.owner},
        pod_labels={OWNER_LABEL: context.owner},
        pod=pod,
    )
    return [*_given(name, section), workload]


def sriov_device_plugin(section: Document, context: Context) -> list[Document]:
    """ConfigMap `network-operator-sriovdp-config`, when the policy has its content, and the plugin's DaemonSet."""
    name = f"network-operator-sriov-device-plugin{context.suffix}"
    config_name = f"network-operator-sriovdp-config{context.suffix}"
    config, config_mount = config_volume("config-volume", config_name, "config.json", "/etc/pcidp")
    plugins, plugins_mount = host_path("devicesock", "/var/lib/kubelet/device-plugins")
    container = without_empty(
        {
            "name": "kube-sriovdp",
            "image": context.image("sriovDevicePlugin", section),
            "args": ["--log-dir=sriovdp", "--log-level=10", *(["--use-cdi"] if section.get("useCdi") else [])],
            # Registers devices with the kubelet.
            "securityContext": {"privileged": True},
            "resources": resources(section, "kube-sriovdp"),
            "volumeMounts": [plugins_mount, config_mount],
        }
    )
    pod = {
        **context.on_nodes(section, selector=AFTER_OFED),
        "containers": [container],
        "volumes": [plugins, config],
    }
    workload = daemon_set(
        name,
        selector={"name": name},
        labels={"app": "sriovdp", OWNER_LABEL: context.owner},
        pod_labels={"app": "sriovdp", OWNER_LABEL: context.owner},
        pod=pod,
    )
    return [*_given(config_name, section), workload]


def _given(name: str, section: Document) -> list[Document]:
    return [config_map(name, {"config.json": section["config"]})] if section.get("config") else []


def doca_telemetry_service(section: Document, context: Context) -> list[Document]:
    """DaemonSet `doca-telemetry-service`, and a ConfigMap of the same name unless the policy names another."""
    named = (section.get("config") or {}).get("fromConfigMap")
    config, config_mount = config_volume("config", named or _TELEMETRY_CONFIG, "dts_config.ini", "/config")
    container = {
        "name": "doca-telemetry-service",
        "image": context.image("docaTelemetryService", section),
        # Reads the adapters' counters.
        "securityContext": {"privileged": True},
        "resources": resources(section, "doca-telemetry-service"),
        "volumeMounts": [config_mount],
    }
    pod = {
        **context.on_nodes(section, selector=AFTER_OFED),
        "containers": [container],
        "volumes": [config],
    }
    own_config = [] if named else [config_map(_TELEMETRY_CONFIG, {"dts_config.ini": "enable-provider=sysfs\n"})]
    selector = {"app.kubernetes.io/name": "doca-telemetry"}
    return [*own_config, daemon_set("doca-telemetry-service", selector=selector, pod=pod)]
