"""Second networks of a pod: the request in its annotation, its needs on the machine, and Multus' result.

Annotation, status and the words of failures: Multus ("Network Attachment Definition" standard of the Network Plumbing
Working Group), ipoib-cni and nv-ipam.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.machines.hardware.kernel_modules import IPOIB
from rehearsal.machines.hardware.model import Hardware, RdmaDevice

NETWORKS_ANNOTATION: Final = "k8s.v1.cni.cncf.io/networks"
STATUS_ANNOTATION: Final = "k8s.v1.cni.cncf.io/network-status"
_DEFAULT_NETWORK: Final = "azure"
"""Name of Azure CNI's own configuration (azure-container-networking, 15-azure-swift-overlay.conflist)."""

Document = Mapping[str, Any]


class AttachmentError(Exception):
    """Why a pod's sandbox cannot be made now; the kubelet tries again."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One network that a pod requests."""

    namespace: str
    name: str
    interface: str
    """Name of the interface in the pod."""


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """One network that a pod is attached to."""

    selection: Selection
    device: RdmaDevice
    """The parent."""
    pool: tuple[str, str]
    """Namespace and name of the address pool."""
    address: str


def selections(pod: Document) -> list[Selection]:
    """The networks in a pod's annotation: `[namespace/]name[@interface]`, separated by commas, or JSON.

    Raises AttachmentError for an annotation that Multus cannot read.
    """
    metadata = pod["metadata"]
    text = (metadata.get("annotations") or {}).get(NETWORKS_ANNOTATION, "").strip()
    entries = (
        _json_entries(text) if text.startswith("[") else [_entry(entry) for entry in text.split(",") if entry.strip()]
    )
    return [
        Selection(
            namespace=entry.get("namespace") or metadata["namespace"],
            name=entry["name"],
            interface=entry.get("interface") or f"net{index}",
        )
        for index, entry in enumerate(entries, start=1)
    ]


def _json_entries(text: str) -> list[dict[str, str]]:
    try:
        entries: list[dict[str, str]] = json.loads(text)
        return [{**entry, "name": entry["name"]} for entry in entries]
    except (ValueError, KeyError, TypeError) as error:
        raise AttachmentError(f"parsePodNetworkAnnotation: failed to parse the annotation: {error!r}") from error


def _entry(text: str) -> dict[str, str]:
    network, _, interface = text.strip().partition("@")
    namespace, _, name = network.rpartition("/")
    return {"namespace": namespace, "name": name, "interface": interface}


def configuration(selection: Selection, definitions: Mapping[tuple[str, str], Document]) -> Document:
    """CNI configuration of a network's attachment definition. Raises AttachmentError if there is none."""
    definition = definitions.get((selection.namespace, selection.name))
    if definition is None:
        raise AttachmentError(
            f"cannot find a network-attachment-definition ({selection.name}) in namespace ({selection.namespace}): "
            f'network-attachment-definitions.k8s.cni.cncf.io "{selection.name}" not found'
        )
    config: Document = json.loads(definition["spec"]["config"])
    return config


def parent_device(config: Document, hardware: Hardware, modules: frozenset[str]) -> RdmaDevice:
    """The device that an IPoIB network stands on. Raises AttachmentError if the machine lacks the interface."""
    master = config.get("master", "")
    for device in hardware.hcas:
        if master in (device.interface, device.alternative_interface) and IPOIB in modules:
            return device
    raise AttachmentError(f'failed to lookup master "{master}": Link not found')


def network_status(pod_ip: str | None, attachments: Sequence[Attachment]) -> str:
    """Value of the annotation network-status, as Multus writes it."""
    default = {"name": _DEFAULT_NETWORK, "ips": [pod_ip] if pod_ip else [], "default": True, "dns": {}}
    made = [
        {
            "name": f"{attachment.selection.namespace}/{attachment.selection.name}",
            "interface": attachment.selection.interface,
            "ips": [attachment.address],
            "mac": hardware_address(attachment.device),
            "dns": {},
        }
        for attachment in attachments
    ]
    return json.dumps([default, *made], indent=4)


def hardware_address(device: RdmaDevice) -> str:
    """Link-layer address of an IPoIB interface: 20 bytes, of which the last eight are the port's GUID."""
    digits = device.guid.replace(":", "")
    guid = ":".join(digits[n : n + 2] for n in range(0, 16, 2))
    return f"00:00:01:48:fe:80:00:00:00:00:00:00:{guid}"
