"""The sources of the GPU Operator's DaemonSets: the policy, their pods and their containers."""

from collections.abc import Sequence
from dataclasses import dataclass

from rehearsal.operators.gpu.nodes import DEPLOY_PREFIX
from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.release import JULY_2026, Release
from rehearsal.operators.workloads import ON_DELETE, REQUESTS, workload


@dataclass(frozen=True, kw_only=True)
class Context:
    """The sources of the operands."""

    spec: Document
    """Specification of the ClusterPolicy."""
    nodes: Sequence[Document]
    """Nodes with GPUs."""
    version: str
    """The operator's own version: the tag of its image, which is the validator's too."""

    release: Release = (0, 0)
    """Release of the operator."""

    def section(self, name: str) -> Document:
        """A section of the policy; one that is absent is empty."""
        part: Document = self.spec.get(name) or {}
        return part

    def enabled(self, name: str) -> bool:
        """True if a section enables its operand. If it does not say, the operator takes that as yes."""
        return bool(self.section(name).get("enabled", True))

    @property
    def runtime_class(self) -> str:
        """Runtime class of the operands that need the GPU itself."""
        return str(self.section("operator").get("runtimeClass") or "nvidia")

    @property
    def runtime_classes(self) -> list[str]:
        """That runtime class, and two more with CDI, which is the chart's default."""
        more = ["nvidia-cdi", "nvidia-legacy"] if self.enabled("cdi") else []
        return [self.runtime_class, *more]


def image(section: Document, version: str = "") -> str:
    """Image reference of a section of the policy."""
    return f"{section.get('repository', '')}/{section.get('image', '')}:{section.get('version') or version}"


def pod_of(context: Context, deploy: str, section: Document, containers: list[Document], **more: object) -> Document:
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


def operand(context: Context, name: str, pod: Document, *, on_delete: bool = False) -> list[Document]:
    """The DaemonSet of an operand, behind what belongs to it.

    on_delete: whether the operator itself replaces its pods, one node at a time.
    """
    common = context.section("daemonsets")
    waits = on_delete or common.get("updateStrategy") == "OnDelete"
    since = "26.7" if context.release >= JULY_2026 else None
    *others, document = workload(name, pod=pod, since=since, **(ON_DELETE if waits else {}))
    metadata = document["spec"]["template"]["metadata"]
    metadata["labels"] = {**(common.get("labels") or {}), **metadata["labels"]}
    if annotations := common.get("annotations"):
        metadata["annotations"] = annotations
    return [*others, document]


def container(name: str, section: Document, reference: str, **more: object) -> Document:
    """A container with what a section of the policy says of it. reference: the image."""
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


def validation(context: Context, *names: str) -> list[Document]:
    """Init containers that wait until an earlier operand has done its work on the node."""
    section = context.section("validator")
    reference = image(section, context.version)
    return [
        container(
            f"{name}-validation",
            {"imagePullPolicy": section.get("imagePullPolicy")},
            reference,
            args=[f"{name}-validation"],
        )
        for name in names
    ]
