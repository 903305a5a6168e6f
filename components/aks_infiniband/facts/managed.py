"""Parts of a node that both AKS and this program may manage: if both do, two owners fight over one device.

The version of the API that this program sends cannot request either; a pool may have been made with them by other
means. Sources: MicrosoftDocs/azure-aks-docs fb060ab, aks-managed-gpu-nodes.md (2026-07-02); Microsoft Learn, Configure
managed support for DRANET, read 2026-11-23, which calls the label network-dra: that it begins as AKS's other labels is
assumed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

AUTO_DRAIN: Final = "remediator.kubernetes.azure.com/unschedulable"
"""Taint of a node that AKS's node auto-drain has cordoned and drained for a scheduled event of Azure's
(MicrosoftDocs/azure-aks-docs, node-auto-drain.md, 2026-03-30)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Managed:
    """Something that AKS manages."""

    name: str
    owns: str
    """The part that it manages, as this program does."""
    labels: tuple[tuple[str, str | None], ...]
    """Labels of its nodes; any one identifies it; None stands for any value."""
    instead: str
    """The remedy."""


DRANET: Final = Managed(
    name="AKS's managed DRANET",
    owns="the network adapters' driver and their devices",
    labels=(("kubernetes.azure.com/network-dra", None), ("network-dra", None)),
    instead="a pool without it (networkProfile.dranet Unmanaged): it replaces the Network Operator. To measure the "
    "pool as it is, take it out of the stack and run aks-infiniband validate",
)
GPUS: Final = Managed(
    name="AKS's managed GPU",
    owns="the GPU driver, the device plugin and the DCGM exporter",
    labels=(("kubernetes.azure.com/dcgm-exporter", "enabled"),),
    instead="another pool with --enable-managed-gpu=false, for the mode of a pool cannot be changed",
)


def managed_of(labels: Mapping[str, str]) -> Iterator[Managed]:
    """The parts that AKS manages on a node with these labels."""
    for managed in (DRANET, GPUS):
        if any(key in labels and value in (None, labels[key]) for key, value in managed.labels):
            yield managed


SCHEDULED_EVENTS: Final = (
    "FreezeScheduled",
    "RebootScheduled",
    "RedeployScheduled",
    "PreemptScheduled",
    "TerminateScheduled",
    "VMEventScheduled",
)
"""Conditions of AKS's node-problem-detector, from Azure's scheduled events (docs/records/facts.yaml)."""
