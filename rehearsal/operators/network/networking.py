"""The parts that give pods a second network: CNI plugins, Multus, IPoIB and NV-IPAM; none waits for OFED."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import yaml

from rehearsal.operators.network.parts import Context, config_volume, resources
from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.workloads import config_map, workload

_NV_IPAM_DEFINITIONS: Final = Path(__file__).parent.parent / "crds" / "nv-ipam.yaml"


def cni_part(
    name: str, *, app: str, container: str, init: str | None = None, critical: bool = False
) -> Callable[[Document, Context], list[Document]]:
    """A part that is one DaemonSet, which puts binaries into the node's CNI folder."""

    def part(section: Document, context: Context) -> list[Document]:
        mounts: list[Document] = [{"name": "cnibin", "mountPath": "/host/opt/cni/bin"}]
        volumes: list[Document] = []
        documents: list[Document] = []
        if section.get("config"):
            config, config_mount = config_volume("config", f"{app}-cni-config", "cni-conf.json", "/tmp/config")  # noqa: S108 - Multus's own path
            documents.append(config_map(f"{app}-cni-config", {"cni-conf.json": section["config"]}))
            volumes, mounts = [*volumes, config], [*mounts, config_mount]
        image = context.image(app, section)
        base = {"image": image, "resources": resources(section, container), "volumeMounts": mounts}
        pod = {
            **context.on_nodes(section, critical=critical),
            "initContainers": [{"name": init, **base}] if init else None,
            # Writes into the node's CNI folders.
            "containers": [{"name": container, **base, "securityContext": {"privileged": True}}],
            "volumes": volumes,
        }
        return [*documents, *workload(name, pod=without_empty(pod), fields=context.fields)]

    return part


_CONTROL_PLANE: Final = ("node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane")
_TOLERATED: Final = [
    {"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in ("nvidia.com/gpu", *_CONTROL_PLANE)
]
_ON_CONTROL_PLANE: Final = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [""]}]}}
        for key in _CONTROL_PLANE
    ]
}
_APART: Final = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {
            "weight": 100,
            "podAffinityTerm": {
                "labelSelector": {
                    "matchExpressions": [{"key": "name", "operator": "In", "values": ["nv-ipam-controller"]}]
                },
                "topologyKey": "kubernetes.io/hostname",
            },
        }
    ]
}


def nv_ipam(section: Document, context: Context) -> list[Document]:
    """NV-IPAM: the definitions of its pools, its controller, and an agent on every node."""
    definitions: list[Document] = list(yaml.safe_load_all(_NV_IPAM_DEFINITIONS.read_text()))
    image = context.image("nvIpam", section)
    affinity = context.spec.get("deploymentNodeAffinity") or {}
    controller = without_empty(
        {
            "affinity": {"podAntiAffinity": _APART, "nodeAffinity": {**_ON_CONTROL_PLANE, **affinity}},
            "tolerations": [*(context.spec.get("deploymentTolerations") or ()), *_TOLERATED],
            "priorityClassName": "system-cluster-critical",
            "imagePullSecrets": context.pull_secrets(section),
            "containers": [
                {"name": "nv-ipam-controller", "image": image, "resources": resources(section, "nv-ipam-controller")}
            ],
        }
    )
    agent = {
        **context.on_nodes(section, host_network=False),
        "containers": [
            {
                "name": "nv-ipam-node",
                "image": image,
                "resources": resources(section, "nv-ipam-node"),
                # Writes into the node's CNI folders.
                "securityContext": {"privileged": True},
                "volumeMounts": [{"name": "cnibin", "mountPath": "/opt/cni/bin"}],
            }
        ],
    }
    return [
        *definitions,
        *workload("nv-ipam-controller", pod=controller, replicas=2),
        *workload("nv-ipam-node", pod=agent, fields=context.fields),
    ]


def nic_feature_discovery(section: Document, context: Context) -> list[Document]:
    """DaemonSet `nic-feature-discovery-ds`."""
    container = {
        "name": "nic-feature-discovery",
        "image": context.image("nicFeatureDiscovery", section),
        "resources": resources(section, "nic-feature-discovery"),
    }
    place = context.on_nodes(section, host_network=False)
    return workload("nic-feature-discovery-ds", pod={**place, "containers": [container]})
