"""Messages that users of the operators have met, as patterns with the likely cause; the more particular first."""

import re
from collections.abc import Sequence
from typing import Final

Causes = Sequence[tuple[str, str]]
"""Regular expression, and likely cause."""

_PREPARE: Final = "set networkOperator.nodePreparation: true, which does it on every node"
_CREDENTIALS: Final = "the registry asks for credentials: pulumi config set --secret aks-infiniband:registryCredentials"
LOG_LINES: Final[Causes] = (
    ("Failed loading kernel module mlx5_ib", "set OFED_BLACKLIST_MODULES_FILE on the OFED driver (a race)"),
    ("Storage modules are loaded", "set UNLOAD_STORAGE_MODULES=true on the OFED driver"),
    ("third-party RDMA modules are loaded", "set UNLOAD_THIRD_PARTY_RDMA_MODULES=true on the OFED driver"),
    (
        "Kernel headers",
        "the OFED driver found no headers of the node's kernel: can the node reach its package archive?",
    ),
    (
        "missing RDMA device spec",
        f"ib_umad or rdma_ucm is not loaded on the node, so its HCAs lack a character device: {_PREPARE}",
    ),
    (
        'exposing "0" devices',
        "the device plugin's selectors match no device of the node, or its modules ib_umad and rdma_ucm (with the "
        f"inbox driver ib_ipoib too) are not loaded: {_PREPARE}",
    ),
    (
        "Cannot allocate memory",
        "memory could not be locked for the HCA: the pod lacks IPC_LOCK, or does not run as root and the node's limit "
        f"of locked memory is low: {_PREPARE}",
    ),
    ("401 Unauthorized", _CREDENTIALS),
    ("authentication required", _CREDENTIALS),
    ("429 Too Many Requests", "the registry throttles pulls: mirror the images, and set registry.images"),
    ("higher than root config version", "set RUNTIME_CONFIG_SOURCE=file on the GPU Operator's toolkit (containerd 2)"),
    ("Module ib_umad not found", "the node's kernel has no such module: an OS image without RDMA modules"),
    ("another drop-in sets its memlock limit", "a drop-in of the node's systemd contradicts ours, and comes after it"),
)
"""Of Mellanox/doca-driver-build issue 52 and pull request 298, network-operator issues 1084, 1639 and 830,
k8s-rdma-shared-dev-plugin issues 192, 108, 98 and 159, nvidia-container-toolkit issue 2037, NVIDIA/aicr issue 1688."""
SANDBOX: Final[Causes] = (
    (
        "no free addresses",
        "the node's block of the IPoIB network is used up: raise networkOperator.ipoib.addressesPerNode",
    ),
    ("configuration for pool", "the IPPool has no block for this node: its selector does not match, or none is left"),
    ("Link not found", "the IPoIB network's parent interface does not exist on this node: set the pool's ipoibDevices"),
    (
        "cannot find a network-attachment-definition",
        "the annotation names a network that does not exist: write it as namespace/name",
    ),
)
"""What CNI plugins say (nvidia-k8s-ipam, ipoib-cni and multus-cni: their own error texts)."""
REFUSALS: Final[Causes] = (
    (
        r"conflicts? with |Apply failed with \d+ conflict",
        "somebody else made it and manages its fields: there can be one only, so theirs has to go, or ours",
    ),
    (
        r"IPPool.*(no matches for kind|not found)|no matches for kind .?IPPool",
        "the operator defines IPPool when it applies the NicClusterPolicy's part nvIpam: no pool is in mode ipoib, or "
        "the policy was not applied before",
    ),
    (
        r"no matches for kind",
        "the Network Operator's definitions are not installed: its release comes first",
    ),
)
"""What the API server answers where that says it all."""


def cause_in(text: str, causes: Causes = LOG_LINES) -> str | None:
    """The likely cause, where the text holds a message that we know."""
    return next((cause for pattern, cause in causes if re.search(pattern, text)), None)
