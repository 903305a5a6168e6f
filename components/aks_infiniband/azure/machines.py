"""Node pools as they are requested from Azure. A field here is all that is said of a property: the key of a stack file,
the argument of a component, the input in other languages, its text, its bounds, and Azure's name for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import DiskGb, MaxPods, Nodes
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import OsSku
from aks_infiniband.facts.pool import AnyPool
from aks_infiniband.facts.rules import Zone
from aks_infiniband.handwritten.section import Section

Priority = Literal["Regular", "Spot"]
OsDiskType = Literal["Managed", "Ephemeral"]
MOST_LABELS: Final = 100
"""Labels of a pool. The limit of Azure is not documented; that it refuses hundreds is assumed."""
_SIZE: Final = {"anyOf": [{"enum": list(SIZES)}, {"type": "string", "pattern": rules.vm_size.whole}]}
"""For editors: the catalogue's sizes, or any other."""
OwnLabels = Annotated[
    dict[Annotated[str, rules.label_key, AfterValidator(rules.label)], Annotated[str, rules.label_value]],
    Field(max_length=MOST_LABELS),
]
"""Labels that a pool may give its nodes."""


@dataclass(frozen=True)
class Sent:
    """The argument of an AgentPool with which a field is sent. An empty list or mapping is not sent."""

    argument: str
    made: Callable[[Any], Any] | None = None
    """The conversion of the value; None: the value itself."""
    read: Callable[[Any], Any] | None = None
    """The value again, from what Azure has of it; None: Azure has the value itself."""
    moves: bool = False
    """True if Azure, or a person, changes it while the pool lives: it does not describe a pool that exists."""


def _snapshot(identifier: str) -> dict[str, str]:
    return {"source_resource_id": identifier}


def _of_snapshot(creation_data: Mapping[str, Any]) -> str | None:
    return creation_data.get("sourceResourceId")


class Autoscale(Section):
    """Bounds of the cluster autoscaler. The pool begins with its count, which Azure changes later."""

    min_count: Nodes = Field(strict=True)
    """At least 1: no autoscaler starts a node for an extended resource that it has never seen (AKS issue 2832)."""
    max_count: Nodes = Field(strict=True)
    """With InfiniBand at most what one placement group takes: 100, or cluster.placementGroupLimit."""


class Machines(Section):
    """Properties of a pool of any kind that a user may choose. For one that is left out, Azure chooses the value."""

    autoscale: Autoscale | None = None
    """Bounds of the cluster autoscaler. Default: the pool keeps its count."""
    labels: Annotated[OwnLabels, Sent("node_labels")] = Field(default_factory=dict)
    """Further node labels."""
    kubernetes_version: Annotated[
        Annotated[str, rules.version, AfterValidator(rules.kubernetes_version)] | None,
        Sent("orchestrator_version", moves=True),
    ] = None
    """Version of its nodes while it is behind the cluster's, by three minor versions at most. `aks-infiniband upgrade`
    writes and removes it. Default: the cluster's."""
    max_pods: Annotated[MaxPods | None, Sent("max_pods")] = Field(default=None, strict=True)
    """Pods that a node takes, of which the operators and this program take up to 30. Default: Azure's, 250 with the
    overlay and 110 with a podSubnetId. A change replaces the pool."""
    os_sku: Annotated[OsSku, Sent("os_sku")] = "Ubuntu"
    """The system of the nodes. Ubuntu is 24.04 from Kubernetes 1.35 on and 22.04 before. AzureLinux and AzureLinux3 are
    Azure Linux 3, up to Kubernetes 1.36 and on sizes without GPUs, with V100 or with A100. NVIDIA lists no image of
    DOCA-OFED and no GPU driver of its operator for Azure Linux, so both are unproven there. A change replaces the
    pool."""
    os_disk_size_gb: Annotated[DiskGb | None, Sent("os_disk_size_gb")] = Field(default=None, strict=True)
    """GB of the OS disk. Default: Azure's for the size. A change replaces the pool."""
    os_disk_type: Annotated[OsDiskType | None, Sent("os_disk_type")] = None
    """The place of the OS disk. Default: Azure chooses by the size. A change replaces the pool."""
    node_image_snapshot_id: Annotated[
        Annotated[str, rules.snapshot_id] | None, Sent("creation_data", _snapshot, _of_snapshot)
    ] = None
    """A node pool snapshot whose node image the pool gets. A change reimages the nodes, one after the other. Default:
    the newest image of the OS SKU."""
    capacity_reservation_group_id: Annotated[
        Annotated[str, rules.capacity_reservation_group_id] | None, Sent("capacity_reservation_group_id")
    ] = None
    """A capacity reservation group that has room for the pool. Only a pool with infiniband: false may name one, because
    Azure reserves neither placement groups nor ND, HB and HC sizes. The cluster's identity needs the role Contributor
    on the group: an existing one (cluster.identityId), or the one that an earlier update has made; AKS may take 60
    minutes to see a role that was just given. A change replaces the pool."""
    zones: Annotated[tuple[Zone, ...], Sent("availability_zones")] = ()
    """At most one availability zone for an InfiniBand pool: a fabric does not span zones. A change replaces the
    pool."""


class AskedPool(AnyPool):
    """A pool as a document describes it: by the name of its size, and a number of machines."""

    vm_size: Annotated[str, rules.vm_size, WithJsonSchema(_SIZE)]
    """A size of the catalogue; in a stack file also one that `sizes` describes. A change replaces the pool."""
    count: Nodes = Field(strict=True)
    """Number of nodes; with InfiniBand at most 100, or cluster.placementGroupLimit."""


class OrdinaryPool(Machines, AskedPool):
    """A pool of machines without InfiniBand."""

    priority: Priority = "Regular"
    """Spot only for pools without InfiniBand: an eviction takes one machine out of a job that spans all of them."""


def sent(machines: Machines) -> dict[str, Any]:
    """The arguments of an AgentPool that fields stand for one by one. `autoscale` is three, and follows the pool."""
    properties: dict[str, Any] = {}
    for name, field in type(machines).model_fields.items():
        for marker in field.metadata:
            if isinstance(marker, Sent):
                value = getattr(machines, name)
                plain = list(value) if isinstance(value, tuple) else value
                properties[marker.argument] = (marker.made(plain) if marker.made and plain else plain) or None
    return properties
