"""DaemonSets of ours on the machines of some pools: what all have in common, and those that reach into the machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import rules, versions
from aks_infiniband.facts.pool import Pool, node_affinity, tolerated
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, timeout_annotation
from aks_infiniband.resources.registry import SOURCES, Registry

_HOST_PROC: Final = "/host/proc"
"""The container's path to the machine's namespaces; hostPID would be the whole pod's, for good."""
UNPRIVILEGED: Final = {
    "runAsNonRoot": True,
    "runAsUser": 65534,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The securityContext of a container that needs nothing of its machine."""
SMALL: Final = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}}
"""Resources of a shell that sleeps, and now and then runs a program; and of an exporter of some counters."""


def daemon_set_spec(
    pools: Sequence[Pool],
    labels: Mapping[str, str],
    pod: Mapping[str, Any],
    *,
    registry: Registry,
    max_unavailable: int | str = 1,
    selected_by: Sequence[str] = ("app.kubernetes.io/name",),
) -> dict[str, Any]:
    """The spec of a DaemonSet whose pods run on every node of some pools, and never call the API server.

    labels: those of the pods. pod: their spec, without what all of ours have. selected_by: the labels that select them.
    """
    own = {
        "automountServiceAccountToken": False,
        "affinity": {"nodeAffinity": node_affinity(pools)},
        **tolerated(pools),
        **({"imagePullSecrets": registry.pull_secrets()} if registry.pull_secret else {}),
    }
    return {
        "selector": {"matchLabels": {label: labels[label] for label in selected_by}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable}},
        "template": {"metadata": {"labels": dict(labels)}, "spec": {**own, **pod}},
    }


def idle_container(registry: Registry) -> dict[str, Any]:
    """A container that does nothing and may do nothing."""
    return {
        "name": "idle",
        "image": registry.image(versions.NODE_TOOLS.reference),
        "command": ["sh", "-c", "while true; do sleep 3600; done"],
        "resources": SMALL,
        "securityContext": UNPRIVILEGED,
    }


def script(name: str) -> str:
    """A shell script of this room.

    With nsenter it runs the machine's own programs in the machine's namespaces: only that modprobe knows the kernel's
    modules.
    """
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class NodeDaemonArgs(WaitArgs):
    """The arguments of every such DaemonSet. The DaemonSet is ready when its pods are, on the nodes that are there."""

    pools: Sequence[Pool]
    """The pools on whose nodes it runs."""
    namespace: pulumi.Input[Annotated[str, rules.namespace]]
    """An existing namespace that admits privileged pods."""
    registry: Registry = SOURCES
    """The source of the image. Default: the place at which its makers publish it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostProgram:
    """A shell script that runs in one pod on every node of some pools."""

    name: str
    """Name of the DaemonSet in the cluster."""
    component: str
    """The part it plays, for its labels."""
    pools: Sequence[Pool]
    script: str
    argument: str
    """The script's $1."""
    once: bool
    """True if the script ends. Then an init container runs it, and the container that stays runs without privileges."""

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the DaemonSet and its pods."""
        return metadata.labels(self.name, self.component)

    def spec(self, registry: Registry = SOURCES) -> dict[str, Any]:
        """The spec of the DaemonSet."""
        container: dict[str, Any] = {
            "name": self.name,
            "image": registry.image(versions.NODE_TOOLS.reference),
            "command": ["sh", "-c", self.script, self.name],
            "args": [self.argument],
            "resources": SMALL,
            # The script loads kernel modules and speaks to systemd through the machine's namespaces, which only a
            # privileged container may enter.
            "securityContext": {"privileged": True},
            "volumeMounts": [{"name": "proc", "mountPath": _HOST_PROC, "readOnly": True}],
        }
        pod: dict[str, Any] = {
            "priorityClassName": "system-node-critical",
            "containers": [container],
            "volumes": [{"name": "proc", "hostPath": {"path": "/proc", "type": "Directory"}}],
        }
        if self.once:
            pod |= {"initContainers": [container], "containers": [idle_container(registry)]}
        return daemon_set_spec(self.pools, self.labels, pod, registry=registry)

    def create(
        self, resource: str, args: NodeDaemonArgs, *, parent: pulumi.Resource, opts: pulumi.ResourceOptions | None
    ) -> None:
        """Create the DaemonSet; the provider awaits it on every node there is (pulumi-kubernetes pull request 2953).

        resource: its name in the program.
        parent, opts: its component, and the options that the component was given.
        """
        # Plain data, as Kubernetes takes it; the SDK's types of nested mappings are more than a type checker can bear.
        described: Any = {
            "name": self.name,
            "namespace": args.namespace,
            "labels": self.labels,
            "annotations": timeout_annotation(args),
        }
        wanted: Any = self.spec(args.registry)
        waiting = diagnosis.Waiting(component=parent, opts=opts, args=args, pools=self.pools)
        kubernetes.apps.v1.DaemonSet(
            resource, metadata=described, spec=wanted, opts=waiting.child_options(resource, "daemon-set")
        )
