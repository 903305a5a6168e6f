"""The parts that give pods a second network: CNI plugins, Multus, IPoIB and NV-IPAM; none waits for OFED."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import yaml

from rehearsal.operators.network.parts import Context, config_volume, host_path, resources
from rehearsal.operators.plan import Document, without_empty
from rehearsal.operators.workloads import config_map, daemon_set, deployment

_NV_IPAM_DEFINITIONS: Final = Path(__file__).parent.parent / "crds" / "nv-ipam.yaml"
_LINUX: Final = {"kubernetes.io/os": "linux"}


def cni_part(
    name: str, *, app: str, container: str, init: str | None = None
) -> Callable[[Document, Context], list[Document]]:
    """A part that is one DaemonSet, which puts binaries into the node's CNI folder."""

    def part(section: Document, context: Context) -> list[Document]:
        binaries, mount = host_path(
            "cnibin", context.operator_env.get("CNI_BIN_DIR", "/opt/cni/bin"), "/host/opt/cni/bin"
        )
        volumes, mounts, documents = [binaries], [mount], []
        if section.get("config"):
            config, config_mount = config_volume("config", f"{app}-cni-config", "cni-conf.json", "/tmp/config")  # noqa: S108 - Multus's own path
            documents.append(config_map(f"{app}-cni-config", {"cni-conf.json": section["config"]}))
            volumes, mounts = [*volumes, config], [*mounts, config_mount]
        image = context.image(app, section)
        base = {"image": image, "resources": resources(section, container), "volumeMounts": mounts}
        pod = {
            **context.on_nodes(section, selector=_LINUX),
            "initContainers": [{"name": init, **base}] if init else None,
            # Writes into the node's CNI folders.
            "containers": [{"name": container, **base, "securityContext": {"privileged": True}}],
            "volumes": volumes,
        }
        return [*documents, daemon_set(name, selector={"app": app}, pod=without_empty(pod))]

    return part


def nv_ipam(section: Document, context: Context) -> list[Document]:
    """NV-IPAM: the definitions of its pools, its controller, and an agent on every node."""
    definitions: list[Document] = list(yaml.safe_load_all(_NV_IPAM_DEFINITIONS.read_text()))
    image = context.image("nvIpam", section)
    affinity = context.spec.get("deploymentNodeAffinity")
    controller = without_empty(
        {
            "affinity": {"nodeAffinity": affinity} if affinity else None,
            "tolerations": context.spec.get("deploymentTolerations"),
            "imagePullSecrets": context.pull_secrets(section),
            "containers": [
                {"name": "nv-ipam-controller", "image": image, "resources": resources(section, "nv-ipam-controller")}
            ],
        }
    )
    binaries, mount = host_path("cnibin", context.operator_env.get("CNI_BIN_DIR", "/opt/cni/bin"), "/opt/cni/bin")
    agent = {
        **context.on_nodes(section, selector=_LINUX),
        "containers": [
            {
                "name": "nv-ipam-node",
                "image": image,
                "resources": resources(section, "nv-ipam-node"),
                # Writes into the node's CNI folders.
                "securityContext": {"privileged": True},
                "volumeMounts": [mount],
            }
        ],
        "volumes": [binaries],
    }
    return [
        *definitions,
        deployment("nv-ipam-controller", selector=_named("nv-ipam-controller"), pod=controller),
        daemon_set("nv-ipam-node", selector=_named("nv-ipam-node"), pod=agent),
    ]


def _named(name: str) -> dict[str, str]:
    return {"app": "nv-ipam", "component": name, "name": name}


def nic_feature_discovery(section: Document, context: Context) -> list[Document]:
    """DaemonSet `nic-feature-discovery-ds`."""
    container = {
        "name": "nic-feature-discovery",
        "image": context.image("nicFeatureDiscovery", section),
        "resources": resources(section, "nic-feature-discovery"),
    }
    pod = {**context.on_nodes(section, selector=_LINUX), "containers": [container]}
    return [daemon_set("nic-feature-discovery-ds", selector={"app": "nic-feature-discovery"}, pod=pod)]
