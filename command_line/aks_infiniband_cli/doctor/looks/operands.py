"""What the operators run in a cluster, found by its images, whoever installed it and under whatever name."""

import re
from typing import Final

from aks_infiniband.diagnosis import ownership
from aks_infiniband.diagnosis.ownership import images_of
from aks_infiniband.diagnosis.view import Object, View
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize

from aks_infiniband_cli.doctor.snapshot import Snapshot, image_names_of, labels_of

SIZE_LABEL: Final = "node.kubernetes.io/instance-type"
POOL_LABEL: Final = "kubernetes.azure.com/agentpool"
NO_POOL: Final = "no pool"
"""The name of the pool to which nodes of a cluster that is not AKS are counted."""


def operator_namespaces(snapshot: Snapshot) -> set[str]:
    """The namespaces in which an operator, or a part of one, runs."""
    return ownership.operator_namespaces(snapshot.view)


def _namespace(item: Object) -> str:
    return str(item["metadata"].get("namespace"))


def operators_of(snapshot: Snapshot, operator: str) -> list[Object]:
    """The Deployments of an operator.

    operator: name of its image, network-operator or gpu-operator.
    """
    namespaces = operator_namespaces(snapshot)
    return [
        item
        for item in snapshot.view.deployments
        if _namespace(item) in namespaces and operator in image_names_of(item)
    ]


def operator_version(snapshot: Snapshot, operator: str) -> str | None:
    """The version of an operator that runs, such as 26.4.1.

    operator: name of its image, network-operator or gpu-operator.
    """
    for deployment in operators_of(snapshot, operator):
        for image in images_of(deployment):
            name, _, tag = image.partition(":")
            found = re.match(r"(?:network-operator-)?v?(\d+\.\d+(?:\.\d+)?)", tag.partition("@")[0])
            if name == operator and found:
                return found[1]
    return None


def runs(snapshot: Snapshot, operator: str) -> bool:
    """Whether a Deployment of an operator is there."""
    return bool(operators_of(snapshot, operator))


def daemon_sets_with(view: View, *images: str) -> list[Object]:
    """The DaemonSets in whose pods one of the images runs; images without registry and tag."""
    return [item for item in view.daemon_sets if image_names_of(item) & set(images)]


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
        found.setdefault(labels_of(node).get(POOL_LABEL, NO_POOL), []).append(node)
    return found
