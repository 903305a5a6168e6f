"""Log lines that users of the operators have met, and what helped."""

from typing import Final

_PREPARE: Final = "set networkOperator.nodePreparation: true, which does it on every node"
_CREDENTIALS: Final = "the registry asks for credentials: pulumi config set --secret aks-infiniband:registryCredentials"
_CAUSES: Final = (
    (
        "Failed loading kernel module mlx5_ib",
        "set OFED_BLACKLIST_MODULES_FILE on the OFED driver (a race)",
    ),
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
k8s-rdma-shared-dev-plugin issues 192, 108, 98 and 159, nvidia-container-toolkit issue 2037, NVIDIA/aicr issue 1688.
The more particular first."""


def cause_in(text: str) -> str | None:
    """The likely cause, where the text holds a line that we know."""
    for needle, cause in _CAUSES:
        if needle in text:
            return cause
    return None
