"""dranet, which publishes a node's network devices for ResourceClaims: its names, what it needs, what it cannot do.

Sources: kubernetes-sigs/dranet v1.4.0 of 2026-07-17 (install.yaml, deployments/helm/dranet, pkg/apis/attributes.go,
pkg/inventory/db.go, examples/azure_aks_examples), read 2026-11-24; Kubernetes, "Dynamic Resource Allocation", 1.34.
"""

from typing import Final

from aks_infiniband.facts.kubernetes import Minor

DRIVER: Final = "dra.net"
"""The driver's name in ResourceSlices and claims, and the domain of its attributes."""
DEVICE_CLASS: Final = "infiniband.dra.net"
"""The DeviceClass that this program makes. dranet brings none, and the one of its examples, dranet.net, has every
network interface of a node."""
IS_HCA: Final = (
    f'device.driver == "{DRIVER}" && "rdma" in device.attributes["{DRIVER}"] && '
    f'device.attributes["{DRIVER}"].rdma && !("ifName" in device.attributes["{DRIVER}"])'
)
"""CEL that is true for HCAs alone. HCAs lack an interface with MOVE_IB_INTERFACES. The Ethernet device of accelerated
networking is an RDMA device too. dranet leaves it out while it belongs to the interface of the default route
(getExcludedUplinkInterfaces), and otherwise publishes it with its interface, seen when its inventory was run over the
simulated sysfs. The expression tests first that an attribute exists, because a CEL error keeps the pod Pending.
"""
MOVE_IB_INTERFACES: Final = "--move-ib-interfaces=false"
"""With it an HCA is published as such, and its character devices reach the pod; without it the IPoIB interface is moved
into the pod's network namespace (examples/azure_aks_examples/README.md, prerequisites)."""
CLOUD: Final = "--cloud-provider-hint=AZURE"
"""With it the driver requests the placement group from Azure at once, and no other cloud's metadata service."""
HEALTH_PORT: Final = 9177
"""Port of the host's network, for /healthz."""

OLDEST_KUBERNETES: Final[Minor] = (1, 34)
"""From here on resource.k8s.io/v1 is there, without a feature gate."""
OLDEST_CONTAINERD: Final = 2
"""Its first major version that has NRI on by default; dranet hands devices to containers through it. Ubuntu 22.04 has
1.7 (install-containerd-1.7yaml turns it on there)."""
