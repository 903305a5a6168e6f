"""dranet's publication of a machine: a ResourceSlice with its HCAs, kept while the driver runs there.

Attributes are those of kubernetes-sigs/dranet v1.4.0 with --move-ib-interfaces=false, as its slice of an MI300X machine
on AKS shows them (examples/azure_aks_examples/mi300x/resourceslice-dranet.yaml, read 2026-11-24), with the PCI root
that pkg/inventory/db.go adds. Its inventory was run over the simulated sysfs (tests/field_recordings/dranet.yaml). The
Ethernet device of accelerated networking belongs to the interface of the default route, so dranet leaves it out
(pkg/inventory/net.go, getExcludedUplinkInterfaces), and no published slice of AKS has it. The placement group and the
PCI subsystem are not simulated.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lightkube.types import PatchType

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import RdmaDevice
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.kinds import RESOURCES
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

DRIVER: Final = "dra.net"
_KIND: Final = "ResourceSlice"
_VERBS: Final = "ib_uverbs"
"""The module without which a device is not an RDMA device."""
_PCI_NAMES: Final = {
    "1018": "MT27800 Family [ConnectX-5 Virtual Function]",
    "101c": "MT28908 Family [ConnectX-6 Virtual Function]",
    "101e": "ConnectX Family mlx5Gen Virtual Function",
}
"""Names of the HCAs' device IDs in the PCI ID Repository (2023-04-11)."""


def device_name(device: RdmaDevice) -> str:
    """`pci-0101-00-00-0` of the device at 0101:00:00.0."""
    return "pci-" + device.pci.address.replace(":", "-").replace(".", "-")


def attributes(device: RdmaDevice, size: str, modules: Collection[str]) -> dict[str, dict[str, Any]]:
    """The published attributes of an HCA. size: of the machine. modules: the kernel modules that it has loaded."""
    root = device.pci.address.rpartition(":")[0]
    by_device: dict[str, dict[str, Any]] = {
        "azure.dra.net/vmSize": {"string": size},
        "dra.net/numaNode": {"int": device.pci.numa_node},
        "dra.net/pciAddress": {"string": device.pci.address},
        "dra.net/pciDevice": {"string": _PCI_NAMES[device.pci.device]},
        "dra.net/pciVendor": {"string": "Mellanox Technologies"},
        "dra.net/rdma": {"bool": _VERBS in modules},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci{root}"},
    }
    if _VERBS in modules:
        by_device["dra.net/rdmaDevice"] = {"string": device.name}
    return by_device


def slice_of(node: Mapping[str, Any], machine: Machine, modules: Collection[str]) -> Document:
    """The one ResourceSlice of a machine; it goes with its node."""
    name, hardware = machine.name, machine.hardware
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"], "controller": True}
    devices = [
        {"name": device_name(device), "attributes": attributes(device, hardware.size, modules)}
        for device in hardware.hcas
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": _KIND,
        "metadata": {"name": f"{name}-{DRIVER}", "ownerReferences": [owner]},
        "spec": {
            "driver": DRIVER,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


@dataclass(frozen=True)
class ResourceSlices:
    """The slices of all machines."""

    cluster: Cluster

    async def keep(self, wanted: Document, *, published: bool) -> None:
        """Publish a slice as it should be, or withdraw it if its driver does not run."""
        resource, name = RESOURCES[_KIND], wanted["metadata"]["name"]
        old = self.cluster.of(_KIND).get(("", name))
        if not published:
            if old is not None:
                await insist(lambda: self.cluster.client.delete(resource, name), what=f"{_KIND} {name}")
            return
        if old is None:
            await insist(lambda: self.cluster.client.create(resource(wanted)), what=f"{_KIND} {name}")
            log.info("node %s: %d devices are published", wanted["spec"]["nodeName"], len(wanted["spec"]["devices"]))
        elif old["spec"]["devices"] != wanted["spec"]["devices"]:
            pool = {**wanted["spec"]["pool"], "generation": old["spec"]["pool"]["generation"] + 1}
            now = {"spec": {"pool": pool, "devices": wanted["spec"]["devices"]}}
            await insist(
                lambda: self.cluster.client.patch(resource, name, now, patch_type=PatchType.MERGE),
                what=f"{_KIND} {name}",
            )
