"""The consequences of each mode for the pods and the nodes of a pool: one table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.facts.catalog.machine import Mode
from aks_infiniband.facts.dranet import DEVICE_CLASS

RDMA_SHARED_RESOURCE: Final = "rdma/shared_ib"
"""The extended resource of the shared device plugin; rdma is its default prefix."""
SRIOV_RESOURCE: Final = "rdma/ib"
"""The extended resource of the SR-IOV device plugin, one for each HCA."""


DEFAULT_MODE: Final[Mode] = "rdma-shared"
"""That of the AKS InfiniBand guide, for pods that share a machine's HCAs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """The way in which pods get the HCAs of a node."""

    device_plugin: Literal["rdmaSharedDevicePlugin", "sriovDevicePlugin"] | None = None
    """The section of the NicClusterPolicy that installs the device plugin; None if none offers the HCAs."""
    resource: str | None = None
    """The extended resource that the device plugin offers."""
    each_hca: bool = False
    """True if a pod requests every HCA by itself. A shared device plugin's number says how many pods may share."""
    networks: bool = False
    """True if pods join IPoIB networks by Multus."""
    claims: bool = False
    """True if pods claim HCAs by ResourceClaims."""
    device_class: str = DEVICE_CLASS
    """The DeviceClass of those claims."""
    privileged: bool = False
    """True if pods are privileged and mount the device nodes, because nothing hands them out."""


_SHARED: Final = "rdmaSharedDevicePlugin"
ACCESS: Final[Mapping[Mode, Access]] = {
    "rdma-shared": Access(device_plugin=_SHARED, resource=RDMA_SHARED_RESOURCE),
    "ipoib": Access(device_plugin=_SHARED, resource=RDMA_SHARED_RESOURCE, networks=True),
    "sriov": Access(device_plugin="sriovDevicePlugin", resource=SRIOV_RESOURCE, each_hca=True),
    "dra": Access(claims=True),
    "driver-only": Access(privileged=True),
}
