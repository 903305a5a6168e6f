"""The simulated subscription: what it offers, what it holds, and its clock."""

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.clock import Clock
from rehearsal.azure.cluster_api import ClusterApi
from rehearsal.azure.store import Operation, OperationKind, Record, Store
from rehearsal.azure.subscription import Series, Size, Subscription
from rehearsal.azure.subscription_faults import Fault

REQUEST_FAULTS: Final = "request-faults.json"
"""A file in the subscription's folder: faults as the subscription file has them, which hold from when it names them."""
NODE_IMAGE_RELEASE: Final = "node-image-release"
"""A file in the subscription's folder, such as with 202612.01.0: what is out by then, for who rehearses an upgrade."""


class OperationFailedError(Exception):
    """Azure accepted a request and could not carry it out; `record` is what it left behind."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(record.failure or "the operation failed")


def _nobody(record: Record) -> None:
    raise RuntimeError(f"the {record.operation} of {record.id} cannot run: make `Operations` of this cloud")


def _nobody_updates(_pulumi_type: str, resource: str, _inputs: Mapping[str, Any]) -> Record:
    raise RuntimeError(f"{resource} cannot be updated: make `Operations` of this cloud")


@dataclass
class Cloud:
    """One subscription.

    control_planes: those of this rehearsal, one for each managed cluster that can be there at a time.
    infiniband: the sizes with InfiniBand, as they are now.
    start: starts the operation that a record holds; `Operations` sets it.
    update: accepts a PUT of what exists, by Pulumi's type, ID and inputs, and does not wait; the same.
    """

    subscription: Subscription
    store: Store
    clock: Clock
    control_planes: Callable[[], Sequence[ClusterApi]]
    infiniband: Callable[[], Mapping[str, MachineSize]] = lambda: SIZES
    start: Callable[[Record], None] = _nobody
    update: Callable[[str, str, Mapping[str, Any]], Record] = _nobody_updates
    token: str = ""
    """The token that a login gets for Azure Resource Manager. The code that serves it sets it."""
    met: dict[int, int] = field(default_factory=dict)
    """The number of requests that each fault, by its index, has met."""
    buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By the ID of a resource, how many requests it takes at once, and since when."""
    doors: dict[str, int] = field(default_factory=dict)
    """By the ID of a cluster that was not reachable at first, the port that leads to it."""

    def cluster_api(self, resource: str) -> ClusterApi:
        """The control plane of a managed cluster. resource: the ID of the cluster, or of something in it.

        Raises KeyError for a cluster that has none yet.
        """
        key = "/managedclusters/"
        above, _, below = resource.casefold().partition(key)
        cluster = self.store.get(f"{above}{key}{below.partition('/')[0]}")
        if cluster is None:
            raise KeyError(resource)
        return self.control_planes()[int(cluster.details.get("controlPlane", 0))]

    def size(self, name: str) -> Size | MachineSize | None:
        """A size by its Azure name."""
        return self.subscription.size(name, self.infiniband())

    def series(self, size_name: str) -> Series | None:
        """The family of a size; None for a size that there is not."""
        size = self.size(size_name)
        return self.subscription.series_of(size) if size else None

    def faults(self) -> list[Fault]:
        """The faults of requests: the subscription's, and those that a file of the run has since."""
        file = self.store.folder / REQUEST_FAULTS
        later = json.loads(file.read_text()) if file.exists() else []
        return [*self.subscription.faults, *map(Fault.model_validate, later)]

    def node_image_release(self) -> str | None:
        """The newest release of node images if a file of the run names one; None: that of today."""
        file = self.store.folder / NODE_IMAGE_RELEASE
        return file.read_text().strip() if file.exists() else None

    def offers(self, size_name: str, region: str) -> bool:
        """True if a region offers a size."""
        series = self.series(size_name)
        return series is not None and (not series.regions or region in series.regions)

    def offered(self, region: str) -> list[str]:
        """The sizes a region offers."""
        return sorted(name for name in {*self.subscription.sizes, *self.infiniband()} if self.offers(name, region))

    def begin(self, record: Record, operation: OperationKind, fault: Fault | None = None) -> None:
        """Start an operation that has been accepted. fault: with which it is to end."""
        code, late = (fault.code, fault.late) if fault else (None, False)
        record.operation = Operation(kind=operation, started=time.time(), fault=code, late=late)
        record.failure = None
        if "eTag" in record.outputs:
            record.outputs["eTag"] = str(uuid.uuid4())
        self.start(record)

    def wait(self, record: Record, caller: str) -> Record:
        """Wait for a record's operation to end. Raises OperationFailedError, Cancelled, Stopped."""
        self.clock.wait_for(lambda: record.operation is None, caller)
        if record.failure:
            raise OperationFailedError(record)
        return record
