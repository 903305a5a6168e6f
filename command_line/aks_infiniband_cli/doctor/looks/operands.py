"""What the operators run in a cluster, found by its images, whoever installed it and under whatever name."""

import re
from typing import Final

from aks_infiniband.diagnosis.view import Object, View
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize

from aks_infiniband_cli.doctor.snapshot import Snapshot, images_of, labels_of

SIZE_LABEL: Final = "node.kubernetes.io/instance-type"
POOL_LABEL: Final = "kubernetes.azure.com/agentpool"
_SYSTEM: Final = ("kube-system", "calico-system", "gatekeeper-system")
"""Namespaces that are AKS's."""
_PARTS: Final = re.compile(
    r"^(network-operator|gpu-operator|doca-driver|mofed|k8s-rdma-shared-dev-plugin|sriov-network-device-plugin"
    r"|nvidia-k8s-ipam|k8s-device-plugin|dcgm-exporter|driver:|container-toolkit|gpu-operator-validator)"
)
"""How the images of both operators and of their parts are called (their releases' lists of images)."""


def operator_namespaces(snapshot: Snapshot) -> set[str]:
    """The namespaces in which an operator, or a part of one, runs."""
    view = snapshot.view
    found = {
        str(item["metadata"].get("namespace"))
        for item in (*view.daemon_sets, *view.deployments)
        if any(_PARTS.match(image) for image in images_of(item))
    }
    return found.difference(_SYSTEM)


def operator_version(view: View, operator: str) -> str | None:
    """The version of an operator that runs, such as 26.4.1.

    operator: name of its image, network-operator or gpu-operator.
    """
    for deployment in view.deployments:
        for image in images_of(deployment):
            name, _, tag = image.partition(":")
            found = re.match(r"(?:network-operator-)?v?(\d+\.\d+(?:\.\d+)?)", tag.partition("@")[0])
            if name == operator and found:
                return found[1]
    return None


def runs(view: View, operator: str) -> bool:
    """Whether a Deployment of an operator is there."""
    images = (image for deployment in view.deployments for image in images_of(deployment))
    return any(image.partition(":")[0] == operator for image in images)


def daemon_sets_with(view: View, *images: str) -> list[Object]:
    """The DaemonSets in whose pods one of the images runs; images without registry and tag."""
    return [item for item in view.daemon_sets if {image.partition(":")[0] for image in images_of(item)} & set(images)]


def ofed_sets(view: View) -> list[Object]:
    """The DaemonSets of the OFED driver."""
    return daemon_sets_with(view, "doca-driver", "mofed")


def size_of(node: Object) -> MachineSize | None:
    """The machine size of a node; None where it has no InfiniBand, or is not known."""
    return SIZES.get(labels_of(node).get(SIZE_LABEL, ""))


def infiniband_nodes(view: View) -> list[Object]:
    """The nodes whose machine size has InfiniBand."""
    return [node for node in view.nodes if size_of(node)]


def pools(view: View) -> dict[str, list[Object]]:
    """The nodes with InfiniBand by AKS's agent pool."""
    found: dict[str, list[Object]] = {}
    for node in infiniband_nodes(view):
        found.setdefault(labels_of(node).get(POOL_LABEL, "no pool"), []).append(node)
    return found
