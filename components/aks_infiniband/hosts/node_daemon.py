"""A DaemonSet of ours that reaches into the machines of some pools."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import versions
from aks_infiniband.facts.limits import TIMEOUT_SECONDS
from aks_infiniband.facts.pool import Pool, node_affinity, tolerations
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import SOURCES, Registry

ON_THE_HOST: Final = "nsenter -t 1 -m -u -i -n -p --"
"""Runs a program of the machine in the machine's own namespaces: its modprobe knows its kernel's modules."""
_RESOURCES: Final = {
    "requests": {"cpu": "10m", "memory": "32Mi"},
    "limits": {"cpu": "200m", "memory": "128Mi"},
}
"""A shell that sleeps, and now and then the machine's modprobe and systemctl."""


@dataclass(frozen=True, kw_only=True)
class NodeDaemonArgs:
    """What every such DaemonSet takes."""

    pools: Sequence[Pool]
    """The pools on whose nodes it runs."""
    namespace: pulumi.Input[str]
    """An existing namespace that admits privileged pods."""
    timeout_seconds: float = TIMEOUT_SECONDS
    """How long its pods may take to be ready on the nodes that are there."""
    registry: Registry = SOURCES
    """Where the image comes from."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


def node_daemon_spec(
    name: str,
    *,
    component: str,
    pools: Sequence[Pool],
    script: str,
    arguments: Sequence[str] = (),
    registry: Registry,
    readiness: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The spec of a DaemonSet with one pod on every node of the pools, which runs a shell script.

    component: the part it plays, for its labels.
    arguments: the script's $1, $2, …
    readiness: the probe that tells when it has done its work; None: at once.
    """
    container: dict[str, Any] = {
        "name": name,
        "image": registry.image(versions.NODE_TOOLS.reference),
        "command": ["sh", "-c", script, name],
        **({"args": list(arguments)} if arguments else {}),
        "resources": _RESOURCES,
        # It loads kernel modules and speaks to systemd through the machine's namespaces, which only a privileged
        # container that sees the machine's processes may enter.
        "securityContext": {"privileged": True},
        **({"readinessProbe": dict(readiness)} if readiness else {}),
    }
    pod: dict[str, Any] = {
        "hostPID": True,
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "affinity": {"nodeAffinity": node_affinity(pools, labels={})},
        "tolerations": tolerations(pools),
        "containers": [container],
        **({"imagePullSecrets": registry.pull_secrets()} if registry.pull_secret else {}),
    }
    return {
        "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        "template": {"metadata": {"labels": metadata.labels(name, component)}, "spec": pod},
    }


def node_daemon(
    resource: str,
    name: str,
    args: NodeDaemonArgs,
    *,
    component: str,
    spec: Mapping[str, Any],
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
) -> kubernetes.apps.v1.DaemonSet:
    """The DaemonSet, which the provider awaits on every node that is there (pulumi-kubernetes pull request 2953).

    resource: its name in the program.
    name: its name in the cluster.
    """
    # Plain data, as Kubernetes takes it; the SDK's types of nested mappings are more than a type checker can bear.
    described: Any = {
        "name": name,
        "namespace": args.namespace,
        "labels": metadata.labels(name, component),
        "annotations": {"pulumi.com/timeoutSeconds": json.dumps(round(args.timeout_seconds))},
    }
    wanted: Any = dict(spec)
    return kubernetes.apps.v1.DaemonSet(
        resource,
        metadata=described,
        spec=wanted,
        opts=child_options(
            parent,
            opts,
            hooks=diagnosis.on_error(resource, waiting_for="daemon-set", kubeconfig=args.kubeconfig, pools=args.pools),
        ),
    )
