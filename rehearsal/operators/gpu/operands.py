"""The GPU Operator's DaemonSets, one function each, as a ClusterPolicy asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rehearsal.operators.gpu.nodes import DEPLOY_PREFIX
from rehearsal.operators.plan import Doc, labels_of, without_empty
from rehearsal.operators.workloads import REQUESTS, daemon_set

_OS_LABEL: Final = "feature.node.kubernetes.io/system-os_release.ID"
_OS_VERSION_LABEL: Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID"


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the operands are made from."""

    spec: Doc
    """Specification of the ClusterPolicy."""
    nodes: Sequence[Doc]
    """Nodes with GPUs."""
    version: str
    """The operator's own version: the tag of its image, which is the validator's too."""

    def section(self, name: str) -> Doc:
        """A section of the policy; one that is absent is empty."""
        found: Doc = self.spec.get(name) or {}
        return found

    def enabled(self, name: str) -> bool:
        """Whether a section asks for its operand; the operator takes silence for yes."""
        return bool(self.section(name).get("enabled", True))

    @property
    def runtime_class(self) -> str:
        """Runtime class of the operands that need the GPU itself."""
        return str(self.section("operator").get("runtimeClass") or "nvidia")


def image(section: Doc, version: str = "") -> str:
    """Image reference of a section of the policy."""
    return f"{section.get('repository', '')}/{section.get('image', '')}:{section.get('version') or version}"


def operands(context: Context) -> list[Doc]:
    """All DaemonSets of the policy, in the order in which the operator applies them."""
    made = [
        driver(context) if context.enabled("driver") else None,
        toolkit(context) if context.enabled("toolkit") else None,
        validator(context),
        device_plugin(context) if context.enabled("devicePlugin") else None,
        mps_control(context) if context.enabled("devicePlugin") else None,
        dcgm(context) if context.section("dcgm").get("enabled") else None,
        _exporting(context, "nvidia-dcgm-exporter", "dcgmExporter", "dcgm-exporter"),
        _exporting(context, "gpu-feature-discovery", "gfd", "gpu-feature-discovery"),
        mig_manager(context) if context.enabled("migManager") else None,
    ]
    return [document for document in made if document is not None]


def _pod(context: Context, deploy: str, section: Doc, containers: list[Doc], **more: object) -> Doc:
    """A pod on the nodes that are labelled for its operand, with what `daemonsets` says for all of them."""
    common = context.section("daemonsets")
    return without_empty(
        {
            "nodeSelector": {DEPLOY_PREFIX + deploy: "true"},
            "tolerations": common.get("tolerations"),
            "priorityClassName": common.get("priorityClassName"),
            "imagePullSecrets": [{"name": name} for name in section.get("imagePullSecrets") or ()],
            "containers": containers,
            **more,
        }
    )


def _operand(context: Context, name: str, pod: Doc, *, on_delete: bool = False, component: str = "") -> Doc:
    common = context.section("daemonsets")
    document = daemon_set(
        name,
        selector={"app": name},
        pod_labels={
            **(common.get("labels") or {}),
            **({"app.kubernetes.io/component": component} if component else {}),
        },
        pod=pod,
        on_delete=on_delete or common.get("updateStrategy") == "OnDelete",
    )
    annotations = common.get("annotations")
    if annotations:
        document["spec"]["template"]["metadata"]["annotations"] = annotations
    return document


def _container(name: str, section: Doc, reference: str, **more: object) -> Doc:
    return without_empty(
        {
            "name": name,
            "image": reference,
            "imagePullPolicy": section.get("imagePullPolicy"),
            "args": section.get("args"),
            "env": section.get("env"),
            "resources": section.get("resources") or REQUESTS,
            # Touches the node's driver, runtime or devices.
            "securityContext": {"privileged": True},
            **more,
        }
    )


def _validation(context: Context, *names: str) -> list[Doc]:
    """Init containers that wait until an earlier operand has done its work on the node."""
    section = context.section("validator")
    reference = image(section, context.version)
    return [
        _container(
            f"{name}-validation",
            {"imagePullPolicy": section.get("imagePullPolicy")},
            reference,
            args=[f"{name}-validation"],
        )
        for name in names
    ]


def driver(context: Context) -> Doc:
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
    containers = [_container("nvidia-driver-ctr", plain, reference, args=["init"], startupProbe=_startup(section))]
    if rdma.get("enabled"):
        containers.append(
            _container("nvidia-peermem-ctr", {**plain, "resources": None}, reference, args=["reload_nvidia_peermem"])
        )
    pod = _pod(
        context,
        "driver",
        section,
        containers,
        hostPID=True,
        initContainers=[
            _container("k8s-driver-manager", {**manager, "env": [*(manager.get("env") or []), *env]}, image(manager))
        ],
    )
    return _operand(context, "nvidia-driver-daemonset", pod, on_delete=True, component="nvidia-driver")


def _startup(section: Doc) -> Doc:
    return {"exec": {"command": ["sh", "-c", "nvidia-smi"]}, **(section.get("startupProbe") or {})}


def _system_suffix(nodes: Sequence[Doc]) -> str:
    """Driver images are built per operating system, and tagged with it."""
    labels = labels_of(nodes[0]) if nodes else {}
    system, version = labels.get(_OS_LABEL), labels.get(_OS_VERSION_LABEL)
    return f"-{system}{version}" if system and version else ""


def toolkit(context: Context) -> Doc:
    """DaemonSet `nvidia-container-toolkit-daemonset`."""
    section = context.section("toolkit")
    pod = _pod(
        context,
        "container-toolkit",
        section,
        [_container("nvidia-container-toolkit-ctr", section, image(section))],
        hostPID=True,
        initContainers=_validation(context, "driver"),
    )
    return _operand(context, "nvidia-container-toolkit-daemonset", pod)


def device_plugin(context: Context) -> Doc:
    """DaemonSet `nvidia-device-plugin-daemonset`."""
    section = context.section("devicePlugin")
    pod = _pod(
        context,
        "device-plugin",
        section,
        [_container("nvidia-device-plugin", section, image(section))],
        runtimeClassName=context.runtime_class,
        initContainers=_validation(context, "toolkit"),
    )
    return _operand(context, "nvidia-device-plugin-daemonset", pod)


def mps_control(context: Context) -> Doc:
    """DaemonSet `nvidia-device-plugin-mps-control-daemon`, which runs only where MPS is asked for by a node label."""
    section = context.section("devicePlugin")
    containers = [_container("mps-control-daemon-ctr", section, image(section))]
    pod = _pod(context, "device-plugin", section, containers, initContainers=_validation(context, "toolkit"))
    pod["nodeSelector"]["nvidia.com/mps.capable"] = "true"
    return _operand(context, "nvidia-device-plugin-mps-control-daemon", pod)


def validator(context: Context) -> Doc:
    """DaemonSet `nvidia-operator-validator`: its init containers go through driver, toolkit, CUDA and plugin."""
    section = context.section("validator")
    pod = _pod(
        context,
        "operator-validator",
        section,
        [_container("nvidia-operator-validator", section, image(section, context.version))],
        runtimeClassName=context.runtime_class,
        initContainers=_validation(context, "driver", "toolkit", "cuda", "plugin"),
    )
    return _operand(context, "nvidia-operator-validator", pod)


def dcgm(context: Context) -> Doc:
    """DaemonSet `nvidia-dcgm`, the host engine that stands alone."""
    section = context.section("dcgm")
    containers = [_container("nvidia-dcgm-ctr", section, image(section))]
    return _operand(
        context,
        "nvidia-dcgm",
        _pod(context, "dcgm", section, containers, initContainers=_validation(context, "toolkit")),
    )


def mig_manager(context: Context) -> Doc:
    """DaemonSet `nvidia-mig-manager`; the operator labels only nodes whose GPUs can be split."""
    section = context.section("migManager")
    containers = [_container("nvidia-mig-manager", section, image(section))]
    pod = _pod(
        context, "mig-manager", section, containers, hostPID=True, initContainers=_validation(context, "toolkit")
    )
    return _operand(context, "nvidia-mig-manager", pod)


def _exporting(context: Context, name: str, section_name: str, deploy: str) -> Doc | None:
    """An operand of one container that waits for the toolkit and then reads the GPUs."""
    if not context.enabled(section_name):
        return None
    section = context.section(section_name)
    pod = _pod(
        context,
        deploy,
        section,
        [_container(name, section, image(section))],
        runtimeClassName=context.runtime_class,
        initContainers=_validation(context, "toolkit"),
    )
    return _operand(context, name, pod)
