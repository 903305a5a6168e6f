"""The GPU Operator's DaemonSets, one function each, as a ClusterPolicy defines them."""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.gpu.parts import Context, container, image, operand, pod_of, validation
from rehearsal.operators.plan import Document, labels_of

_OS_LABEL: Final = "feature.node.kubernetes.io/system-os_release.ID"
_OS_VERSION_LABEL: Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID"
_BY_VARIABLE: Final = {"name": "DEVICE_LIST_STRATEGY", "value": "envvar"}
# If the policy enables CDI, which is the chart's default (controllers/object_controls.go of v26.3.3 and v26.7.0).
_CDI_PLUGIN: Final = (
    {"name": "CDI_ENABLED", "value": "true"},
    {"name": "DEVICE_LIST_STRATEGY", "value": "cdi-annotations,cdi-cri"},
)
_CDI_TOOLKIT: Final = (
    {"name": "CDI_ENABLED", "value": "true"},
    {"name": "NVIDIA_RUNTIME_SET_AS_DEFAULT", "value": "false"},
)


_ONE_DRIVER_A_NODE: Final = {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {
            "labelSelector": {
                "matchExpressions": [
                    {"key": "app.kubernetes.io/component", "operator": "In", "values": ["nvidia-driver"]}
                ]
            },
            "topologyKey": "kubernetes.io/hostname",
        }
    ]
}


def operands(context: Context) -> list[Document]:
    """All DaemonSets of the policy and what belongs to them, each once, in the order in which the operator applies
    them.
    """
    made = [
        driver(context) if context.enabled("driver") else [],
        toolkit(context) if context.enabled("toolkit") else [],
        validator(context),
        device_plugin(context) if context.enabled("devicePlugin") else [],
        mps_control(context) if context.enabled("devicePlugin") else [],
        dcgm(context) if context.section("dcgm").get("enabled") else [],
        _exporting(context, "nvidia-dcgm-exporter", "dcgmExporter", "dcgm-exporter"),
        _exporting(context, "gpu-feature-discovery", "gfd", "gpu-feature-discovery"),
        mig_manager(context) if context.enabled("migManager") else [],
    ]
    documents = {(document["kind"], document["metadata"]["name"]): document for part in made for document in part}
    return list(documents.values())


def driver(context: Context) -> list[Document]:
    """DaemonSet `nvidia-driver-daemonset`; with RDMA a second container keeps nvidia-peermem loaded."""
    section = context.section("driver")
    manager = section.get("manager") or {}
    rdma = section.get("rdma") or {}
    env = [*(section.get("env") or [])]
    if rdma.get("enabled"):
        env.append({"name": "GPU_DIRECT_RDMA_ENABLED", "value": "true"})
        env.append({"name": "USE_HOST_MOFED", "value": str(bool(rdma.get("useHostMofed"))).lower()})
    reference = image(section) + _system_suffix(context.nodes)
    plain = {**section, "env": env}
    containers = [container("nvidia-driver-ctr", plain, reference, args=["init"], startupProbe=_startup(section))]
    if rdma.get("enabled"):
        containers.append(
            container("nvidia-peermem-ctr", {**plain, "resources": None}, reference, args=["reload_nvidia_peermem"])
        )
    pod = pod_of(
        context,
        "driver",
        section,
        containers,
        hostPID=True,
        affinity={"podAntiAffinity": _ONE_DRIVER_A_NODE},
        initContainers=[
            container("k8s-driver-manager", {**manager, "env": [*(manager.get("env") or []), *env]}, image(manager))
        ],
    )
    return operand(context, "nvidia-driver-daemonset", pod, on_delete=True)


def _startup(section: Document) -> Document:
    return {"exec": {"command": ["sh", "-c", "nvidia-smi"]}, **(section.get("startupProbe") or {})}


def _system_suffix(nodes: Sequence[Document]) -> str:
    """Driver images are built per operating system, and tagged with it."""
    labels = labels_of(nodes[0]) if nodes else {}
    system, version = labels.get(_OS_LABEL), labels.get(_OS_VERSION_LABEL)
    return f"-{system}{version}" if system and version else ""


def toolkit(context: Context) -> list[Document]:
    """DaemonSet `nvidia-container-toolkit-daemonset`."""
    section = context.section("toolkit")
    told = {**section, "env": [*_CDI_TOOLKIT, *(section.get("env") or [])]} if context.enabled("cdi") else section
    pod = pod_of(
        context,
        "container-toolkit",
        section,
        [container("nvidia-container-toolkit-ctr", told, image(section))],
        hostPID=True,
        initContainers=validation(context, "driver"),
    )
    return operand(context, "nvidia-container-toolkit-daemonset", pod)


def device_plugin(context: Context) -> list[Document]:
    """DaemonSet `nvidia-device-plugin-daemonset`."""
    section = context.section("devicePlugin")
    own = {variable["name"]: variable for variable in (_BY_VARIABLE, *(_CDI_PLUGIN if context.enabled("cdi") else ()))}
    own |= {variable["name"]: variable for variable in section.get("env") or []}
    pod = pod_of(
        context,
        "device-plugin",
        section,
        [container("nvidia-device-plugin", {**section, "env": list(own.values())}, image(section))],
        runtimeClassName=context.runtime_class,
        initContainers=validation(context, "toolkit"),
    )
    return operand(context, "nvidia-device-plugin-daemonset", pod)


def mps_control(context: Context) -> list[Document]:
    """DaemonSet `nvidia-device-plugin-mps-control-daemon`, which runs only on nodes whose label requests MPS."""
    section = context.section("devicePlugin")
    containers = [container("mps-control-daemon-ctr", section, image(section))]
    mounts = container("mps-control-daemon-mounts", {}, image(section), args=["mount-shm"])
    init = [*validation(context, "toolkit"), mounts]
    pod = pod_of(context, "device-plugin", section, containers, hostPID=True, initContainers=init)
    pod["nodeSelector"]["nvidia.com/mps.capable"] = "true"
    return operand(context, "nvidia-device-plugin-mps-control-daemon", pod)


def validator(context: Context) -> list[Document]:
    """DaemonSet `nvidia-operator-validator`: its init containers go through driver, toolkit, CUDA and plugin."""
    section = context.section("validator")
    pod = pod_of(
        context,
        "operator-validator",
        section,
        [container("nvidia-operator-validator", section, image(section, context.version))],
        runtimeClassName=context.runtime_class,
        initContainers=validation(context, "driver", "toolkit", "cuda", "plugin"),
    )
    return operand(context, "nvidia-operator-validator", pod)


def dcgm(context: Context) -> list[Document]:
    """DaemonSet `nvidia-dcgm`, the host engine that stands alone."""
    section = context.section("dcgm")
    containers = [container("nvidia-dcgm-ctr", section, image(section))]
    return operand(
        context,
        "nvidia-dcgm",
        pod_of(context, "dcgm", section, containers, initContainers=validation(context, "toolkit")),
    )


def mig_manager(context: Context) -> list[Document]:
    """DaemonSet `nvidia-mig-manager`; the operator labels only nodes whose GPUs can be split."""
    section = context.section("migManager")
    containers = [container("nvidia-mig-manager", section, image(section))]
    pod = pod_of(
        context, "mig-manager", section, containers, hostPID=True, initContainers=validation(context, "toolkit")
    )
    return operand(context, "nvidia-mig-manager", pod)


def _exporting(context: Context, name: str, section_name: str, deploy: str) -> list[Document]:
    """An operand of one container that waits for the toolkit and then reads the GPUs."""
    if not context.enabled(section_name):
        return []
    section = context.section(section_name)
    pod = pod_of(
        context,
        deploy,
        section,
        [container(name, section, image(section))],
        runtimeClassName=context.runtime_class,
        initContainers=validation(context, "toolkit"),
    )
    return operand(context, name, pod)
