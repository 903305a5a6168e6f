"""dranet on the nodes of pools in mode dra: it publishes their HCAs, and hands those of a pod's claim to the pod."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import versions
from aks_infiniband.facts.dranet import CLOUD, DEVICE_CLASS, DRIVER, HEALTH_PORT, IS_HCA, MOVE_IB_INTERFACES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import NodeDaemonArgs, daemon_set_spec
from aks_infiniband.resources import metadata
from aks_infiniband.resources.admission import METADATA_STAYS, bound_policies, limit, of_account
from aks_infiniband.resources.options import child_options, timeout_annotation
from aks_infiniband.resources.registry import SOURCES, Registry

NAME: Final = "dranet"
LABELS: Final = {**metadata.labels(NAME, "driver"), "app": NAME}
"""`app` is what dranet's own manifest calls its pods."""
_KUBELET: Final = "/var/lib/kubelet"
_MOUNTS: Final = {
    "plugins": (f"{_KUBELET}/plugins", None),
    "plugins-registry": (f"{_KUBELET}/plugins_registry", None),
    "nri": ("/var/run/nri", None),
    "netns": ("/var/run/netns", "HostToContainer"),
    "infiniband": ("/dev/infiniband", "HostToContainer"),
    "bpf": ("/sys/fs/bpf", "HostToContainer"),
    "state": ("/var/run/dranet", None),
}
"""Path and mount propagation, those of dranet's install.yaml. Its Helm chart lacks the last, in which the driver keeps
what it has handed out: with the chart it forgets that when it restarts (v1.4.0)."""


def dranet_spec(pools: Sequence[Pool], registry: Registry = SOURCES) -> dict[str, Any]:
    """The spec of the DaemonSet, on the nodes of these pools and no others."""
    probe = {"httpGet": {"path": "/healthz", "port": HEALTH_PORT}}
    container = {
        "name": NAME,
        "image": registry.image(versions.DRANET.reference),
        "args": ["/dranet", "--v=4", "--hostname-override=$(NODE_NAME)", MOVE_IB_INTERFACES, CLOUD],
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}],
        "resources": {"requests": {"cpu": "100m", "memory": "50Mi"}},
        # The driver looks through the machine's network devices, and enters the network namespaces of pods.
        "securityContext": {"privileged": True},
        "startupProbe": {**probe, "failureThreshold": 12, "periodSeconds": 5},
        "readinessProbe": probe,
        "volumeMounts": [
            {"name": name, "mountPath": path, **({"mountPropagation": how} if how else {})}
            for name, (path, how) in _MOUNTS.items()
        ],
    }
    pod = {
        "priorityClassName": "system-node-critical",
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "hostNetwork": True,
        "containers": [container],
        "volumes": [
            {
                "name": name,
                "hostPath": {"path": path, **({"type": "DirectoryOrCreate"} if name == "state" else {})},
            }
            for name, (path, _) in _MOUNTS.items()
        ],
    }
    return daemon_set_spec(pools, LABELS, pod, registry=registry)


def rules() -> list[dict[str, Any]]:
    """The permissions of its account, the rules of dranet's install.yaml."""
    api = "resource.k8s.io"
    return [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch", "update"]},
        {
            "apiGroups": [api],
            "resources": ["resourceslices"],
            "verbs": ["list", "watch", "create", "update", "delete"],
        },
        {"apiGroups": [api], "resources": ["resourceclaims", "deviceclasses"], "verbs": ["get"]},
        {"apiGroups": [api], "resources": ["resourceclaims/status"], "verbs": ["patch", "update"]},
        {
            "apiGroups": [api],
            "resources": ["resourceclaims/driver"],
            "resourceNames": [DRIVER],
            "verbs": ["associated-node:patch", "associated-node:update"],
        },
    ]


def policies(namespace: str) -> dict[str, dict[str, Any]]:
    """The specs of ValidatingAdmissionPolicies, by what their names end in.

    The driver's account may write slices, claims and Events of the whole cluster. These policies allow that only for
    the node that its pod runs on, and only as this driver. From Kubernetes 1.36 on the API server checks the status of
    claims in the same way (resourceclaims/driver; Kubernetes, "Hardening Guide - Dynamic Resource Allocation", read
    2026-11-28).
    """
    # A slice's driver and node never change, so the old one is read only without a new one.
    published = "(request.operation == 'DELETE' ? oldObject : object)"
    mine = f"(d, d.driver == '{DRIVER}' && d.pool == variables.node)"
    others = f"filter(d, !(d.driver == '{DRIVER}' && d.pool == variables.node))"
    devices = ".?status.?devices.orValue([])."
    slices = {
        f"publishes devices as {DRIVER} alone": f"{published}.spec.driver == '{DRIVER}'",
        "publishes only devices of the node that its pod is on": (
            f"variables.node != '' && {published}.spec.?nodeName.orValue('') == variables.node"
        ),
    }
    status = {
        "may not change a claim's metadata": METADATA_STAYS,
        "may not change a claim's allocation": " && ".join(
            f"object.?status.?{key} == oldObject.?status.?{key}" for key in ("allocation", "reservedFor")
        ),
        "reports only devices of the node that its pod is on": (
            f"object{devices}{others} == oldObject{devices}{others} && "
            f"oldObject.?status.?allocation.?devices.?results.orValue([]).exists{mine}"
        ),
    }
    events = {
        "reports Events as itself, from its own pod's node": (
            f"object.?source.?component.orValue('') == '{DRIVER}' && "
            "variables.node != '' && object.?source.?host.orValue('') == variables.node"
        ),
        "reports Events about pods and claims alone": (
            "object.?involvedObject.?kind.orValue('') in ['Pod', 'ResourceClaim']"
        ),
    }
    group, core = {"apiGroups": ["resource.k8s.io"], "apiVersions": ["*"]}, {"apiGroups": [""], "apiVersions": ["v1"]}
    written = ["CREATE", "UPDATE"]
    asked = {
        "": ({**group, "operations": [*written, "DELETE"], "resources": ["resourceslices"]}, slices),
        "-claims": ({**group, "operations": ["UPDATE"], "resources": ["resourceclaims/status"]}, status),
        "-events": ({**core, "operations": written, "resources": ["events"]}, events),
    }
    return {end: limit("dranet", of_account(namespace, NAME), rule, said) for end, (rule, said) in asked.items()}


def device_class_spec() -> dict[str, Any]:
    """DeviceClassSpec of resource.k8s.io/v1: the HCAs of all nodes that dranet runs on."""
    return {"selectors": [{"cel": {"expression": IS_HCA}}]}


@dataclass(frozen=True, kw_only=True)
class DranetArgs(NodeDaemonArgs):
    """The arguments of a Dranet: pools in mode dra."""


class Dranet(pulumi.ComponentResource):
    """dranet on the nodes of some pools, and the DeviceClass of their HCAs. Ready when it runs on all nodes.

    Once in a cluster: the DeviceClass and the account's role have fixed names. A node must not run an RDMA device
    plugin with it, because both would hand out the same HCA.
    """

    def __init__(self, name: str, *, args: DranetArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:Dranet", name, None, opts)
        options = child_options(self, opts)
        described = metadata.labels(NAME, "driver")
        own: Any = {"name": NAME, "namespace": args.namespace, "labels": described}
        of_cluster: Any = {"name": f"aks-infiniband-{NAME}", "labels": described}
        class_spec: Any = device_class_spec()
        may: Any = rules()
        kubernetes.resource.v1.DeviceClass(
            f"{name}-class", metadata={"name": DEVICE_CLASS, "labels": described}, spec=class_spec, opts=options
        )
        account = kubernetes.core.v1.ServiceAccount(
            f"{name}-account", metadata=own, automount_service_account_token=False, opts=options
        )
        # Rights are given after the policies that limit them, and taken away before them.
        documents: Any = pulumi.Output.from_input(args.namespace).apply(policies)
        specs = {end: documents[end] for end in policies(NAME)}
        limits = bound_policies(f"{name}-policy", of_cluster, specs, options)
        limited = child_options(self, opts, depends_on=limits)
        role = kubernetes.rbac.v1.ClusterRole(f"{name}-role", metadata=of_cluster, rules=may, opts=limited)
        binding = kubernetes.rbac.v1.ClusterRoleBinding(
            f"{name}-binding",
            metadata=of_cluster,
            role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": of_cluster["name"]},
            subjects=[{"kind": "ServiceAccount", "name": NAME, "namespace": args.namespace}],
            opts=limited,
        )
        annotated: Any = {**own, "annotations": timeout_annotation(args)}
        wanted: Any = dranet_spec(args.pools, args.registry)
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=args.pools)
        after = pulumi.ResourceOptions(depends_on=[account, role, binding])
        kubernetes.apps.v1.DaemonSet(
            name,
            metadata=annotated,
            spec=wanted,
            opts=pulumi.ResourceOptions.merge(waiting.child_options(name, "daemon-set"), after),
        )
        self.register_outputs({})
