"""The operators' parts in a cluster, found by their images, whatever tool installed them and under whatever name."""

import re
from typing import Final

from aks_infiniband.diagnosis import ownership
from aks_infiniband.diagnosis.asks import is_rdma
from aks_infiniband.diagnosis.ownership import images_of
from aks_infiniband.diagnosis.view import Object, View
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL, SIZE_LABEL, has_rdma
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize

from aks_infiniband_cli.doctor.snapshot import Snapshot, image_names_of, labels_of

_FABRIC_SIZES: Final = ("standard_nd", "standard_nc", "standard_hb", "standard_hc", "standard_hx")
"""Families with sizes that have InfiniBand."""
NO_POOL: Final = "no pool"
"""The name of the pool to which nodes of a cluster that is not AKS are counted."""


def operator_namespaces(snapshot: Snapshot) -> set[str]:
    """The namespaces in which an operator, or a part of one, runs."""
    return ownership.operator_namespaces(snapshot.view)


_AT_NODES: Final = re.compile(
    r"^(dranet|dra-driver-nvidia-gpu|k8s-dra-driver-gpu|k8s-device-plugin|nvidia-device-plugin)\b"
)
"""Images of the parts that hand out devices from one of AKS's namespaces: dranet's own manifest is for kube-system."""
_CONTROLLERS: Final = (
    "cert-manager", "dranet", "jobset-system", "kubeflow", "kubeflow-system", "kueue-system", "lws-system",
    "mpi-operator", "nvsentinel",
)  # fmt: skip
"""Namespaces in which the guides to which our pages lead put the controllers of jobs, and programs that watch nodes."""


def is_watched(pod: Object, snapshot: Snapshot, operators: set[str]) -> bool:
    """True if a pod is looked at, whatever it requests: the operators', ours, drivers in AKS's namespaces, controllers.

    operators: their namespaces.
    """
    owner = ownership.owner_of(pod, operators, snapshot.validations_in)
    if owner == "AKS":
        return any(_AT_NODES.match(image) for image in images_of(pod))
    return owner in ("operator", "ours") or _namespace(pod) in _CONTROLLERS


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
            version = re.match(r"(?:network-operator-)?v?(\d+\.\d+(?:\.\d+)?)", tag.partition("@")[0])
            if name == operator and version:
                return version[1]
    return None


def runs(snapshot: Snapshot, operator: str) -> bool:
    """True if a Deployment of an operator is there."""
    return bool(operators_of(snapshot, operator))


def daemon_sets_with(view: View, *images: str) -> list[Object]:
    """The DaemonSets in whose pods one of the images runs; images without registry and tag."""
    return [item for item in view.daemon_sets if image_names_of(item) & set(images)]


def ofed_sets(view: View) -> list[Object]:
    """The DaemonSets of the OFED driver."""
    return daemon_sets_with(view, "doca-driver", "mofed")


_BY_SMALL_NAME: Final = {name.lower(): size for name, size in SIZES.items()}


def size_of(node: Object) -> MachineSize | None:
    """The machine size of a node, by its name in either case; None if it is without InfiniBand, or is not known."""
    return _BY_SMALL_NAME.get(labels_of(node).get(SIZE_LABEL, "").lower())


def has_unknown_size(node: Object) -> bool:
    """True if a node's size has InfiniBand by its name, or offers it, and is not one that is known here."""
    size = labels_of(node).get(SIZE_LABEL, "")
    offers = any(is_rdma(name) for name in (node.get("status") or {}).get("allocatable") or {})
    named = size.lower().startswith(_FABRIC_SIZES) and has_rdma(size)
    return bool(size) and size_of(node) is None and (named or offers)


def infiniband_nodes(view: View) -> list[Object]:
    """The nodes whose machine size has InfiniBand."""
    return [node for node in view.nodes if size_of(node)]


def pools(view: View) -> dict[str, list[Object]]:
    """The nodes with InfiniBand by AKS's agent pool."""
    nodes_by_pool: dict[str, list[Object]] = {}
    for node in infiniband_nodes(view):
        nodes_by_pool.setdefault(labels_of(node).get(AGENT_POOL_LABEL, NO_POOL), []).append(node)
    return nodes_by_pool
