"""The OFED driver's DaemonSets: one for every operating system and kernel that feature discovery has seen."""

import json
from collections.abc import Iterable
from typing import Final

from rehearsal.operators.network.parts import (
    KERNEL_LABEL,
    NIC_LABEL,
    OS_LABEL,
    OS_VERSION_LABEL,
    Context,
    resources,
)
from rehearsal.operators.plan import Document, labels_of, without_empty
from rehearsal.operators.workloads import ON_DELETE, REQUESTS, config_map, workload

OFED_LABEL: Final = "nvidia.com/ofed-driver"
_INIT_CONFIG: Final = "ofed-init-container-config"
_SAFE_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet with which Kubernetes encodes hashes in names: nothing that reads as a word (k8s.io/apimachinery,
util/rand).
"""


def kernel_hash(kernel: str) -> str:
    """Short name of a kernel release: 32-bit FNV-1a of it, in decimal, encoded as Kubernetes encodes names' hashes."""
    value = 0x811C9DC5
    for byte in kernel.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return "".join(_SAFE_ALPHABET[ord(digit) % len(_SAFE_ALPHABET)] for digit in str(value))


def ofed_driver(section: Document, context: Context) -> list[Document]:
    """ConfigMap and DaemonSets; nothing at all while no node with an adapter says what it runs.

    Every labelled node counts whose taints the policy tolerates, also one that the policy's affinity leaves out
    (pkg/state/state_ofed.go of 26.4.1): its kernel may get a DaemonSet that schedules no pod.
    """
    platforms = sorted(_platforms(node for node in context.nodes_with_nic if context.tolerates(node)))
    if not platforms:
        return []
    safe_load = (section.get("upgradePolicy") or {}).get("safeLoad", False)
    annotation = "nvidia.com/ofed-driver-upgrade.driver-wait-for-safe-load"
    init_config = {
        "safeDriverLoad": {"enable": safe_load, "annotation": annotation},
        "moduleDependencyCheck": {"modules": [], "hostProcPath": "/host/proc", "hostSysPath": "/host/sys"},
    }
    config = config_map(_INIT_CONFIG, {"config.json": json.dumps(init_config)})
    return [config, *(made for platform in platforms for made in _driver(section, context, *platform))]


def _platforms(nodes: Iterable[Document]) -> set[tuple[str, str, str, str]]:
    """Operating system, its version, kernel and architecture of the nodes that carry all of these labels."""
    wanted = (OS_LABEL, OS_VERSION_LABEL, KERNEL_LABEL, "kubernetes.io/arch")
    platforms = {tuple(labels_of(node).get(label, "") for label in wanted) for node in nodes}
    return {(a, b, c, d) for a, b, c, d in platforms if all((a, b, c, d))}


def _driver(
    section: Document, context: Context, system: str, version: str, kernel: str, architecture: str
) -> list[Document]:
    fields = {"system": system, "version": version, "kernel": kernel, "hash": kernel_hash(kernel)}
    image = context.image("ofedDriver", section, suffix=f"-{system}{version}-{architecture}")
    selector = {NIC_LABEL: "true", OS_LABEL: system, OS_VERSION_LABEL: version, KERNEL_LABEL: kernel}
    container = without_empty(
        {
            "name": "mofed-container",
            "image": image,
            # Loads kernel modules of the node.
            "securityContext": {"privileged": True},
            "env": section.get("env"),
            "resources": resources(section, "mofed-container"),
            "volumeMounts": [
                {"name": "run-mlnx-ofed", "mountPath": "/run/mellanox/drivers"},
                {"name": "host-etc", "mountPath": "/host/etc"},
            ],
            **{probe: _probe(section[probe]) for probe in _PROBES if probe in section},
        }
    )
    place = context.on_nodes(section, selector=selector, critical=True)
    pod = {
        # The manifest has `affinity` twice: a policy's own takes the place of one driver a node.
        "affinity": {"podAntiAffinity": _ONE_DRIVER_A_NODE},
        **place,
        "initContainers": _init_containers(context),
        "containers": [container],
        "terminationGracePeriodSeconds": section.get("terminationGracePeriodSeconds", 300),
    }
    name = "mofed-{system}{version}-{hash}{suffix}-ds"
    return workload(name, pod=without_empty(pod), fields={**context.fields, **fields}, **ON_DELETE)


_ONE_DRIVER_A_NODE: Final = {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {
            "labelSelector": {"matchExpressions": [{"key": OFED_LABEL, "operator": "Exists"}]},
            "topologyKey": "kubernetes.io/hostname",
        }
    ]
}
_PROBES: Final = ("startupProbe", "livenessProbe", "readinessProbe")


def _probe(settings: Document) -> Document:
    """A probe with the policy's timing; what it looks at is the driver's own mark."""
    return {"exec": {"command": ["sh", "-c", "ls /run/mellanox/drivers/.driver-ready"]}, **settings}


def _init_containers(context: Context) -> list[Document]:
    image = context.operator_env.get("OFED_INIT_CONTAINER_IMAGE")
    if not image:
        return []
    return [
        {
            "name": "network-operator-init-container",
            "image": image,
            "args": [
                *("--node-name", "$(NODE_NAME)", "--configmap-name", _INIT_CONFIG),
                *("--configmap-namespace", "$(NAMESPACE)", "--configmap-key", "config.json"),
            ],
            "env": [
                {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            ],
            "resources": REQUESTS,
        }
    ]
