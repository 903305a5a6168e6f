"""The simulated subscription: takes requests, refuses what Azure refuses, and carries out what it has accepted.

Every accepted request is an operation that goes on by itself, in a thread, whoever waits for it; it is written down
before it starts, and started again when the simulator is.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from aks_infiniband.facts.catalog import SIZES, MachineSize

from rehearsal.azure import access, request_faults
from rehearsal.azure.clock import Clock, Stopped
from rehearsal.azure.cluster_api import ClusterApi
from rehearsal.azure.errors import AlreadyExistsError, AzureError
from rehearsal.azure.kinds import Kind, Request, Work
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Operation, OperationKind, Record, Store
from rehearsal.azure.subscription import Series, Size, Subscription

_LOG: Final = logging.getLogger(__name__)
_FINISHED: Final = {"create": "created", "update": "updated", "delete": "deleted"}
_UNDER_WAY: Final[dict[OperationKind, str]] = {"create": "Creating", "update": "Updating", "delete": "Deleting"}


class OperationFailedError(Exception):
    """Azure accepted a request and could not carry it out; `record` is what it left behind."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(record.failure or "the operation failed")


@dataclass
class Cloud:
    """One subscription: what it offers, what it holds, and the kinds of resource it knows.

    infiniband: the sizes with InfiniBand, as they are now.
    """

    subscription: Subscription
    store: Store
    clock: Clock
    cluster_api: ClusterApi
    kinds: Mapping[str, Kind]
    infiniband: Callable[[], Mapping[str, MachineSize]] = lambda: SIZES
    met: dict[int, int] = field(default_factory=dict)
    """How many requests each fault, by its index, has met."""

    def size(self, name: str) -> Size | MachineSize | None:
        """A size by its Azure name."""
        return self.subscription.size(name, self.infiniband())

    def series(self, size_name: str) -> Series | None:
        """The family of a size; None for a size that there is not."""
        size = self.size(size_name)
        return self.subscription.series_of(size) if size else None

    def offers(self, size_name: str, region: str) -> bool:
        """Whether a region offers a size."""
        series = self.series(size_name)
        return series is not None and (not series.regions or region in series.regions)

    def offered(self, region: str) -> list[str]:
        """The sizes a region offers."""
        return sorted(name for name in {*self.subscription.sizes, *self.infiniband()} if self.offers(name, region))

    def resume(self) -> None:
        """Carry on with what was under way when the simulator was killed."""
        for record in self.store.all():
            if record.operation:
                _LOG.info("carrying on with the %s of %s", record.operation.kind, record.id)
                self._run(record)

    def create(self, kind: Kind, request: Request, caller: str) -> Record:
        """Accept and carry out a new resource's PUT, while `caller` (a connection) waits.

        Raises AzureError, AlreadyExistsError, OperationFailedError; Cancelled when the caller waits no longer.
        """
        with self.clock.changed:
            if request.current:
                raise AlreadyExistsError(request.id)
            kind.refuse_create(self, request)
            fault = request_faults.meet(self, kind.pulumi_type, request.id, "create")
            record = Record(
                id=request.id,
                pulumi_type=kind.pulumi_type,
                inputs=dict(request.inputs),
                outputs=kind.render(self, request),
            )
            self.begin(record, "create", fault)
        return self.wait(record, caller)

    def update(self, kind: Kind, request: Request, caller: str) -> Record:
        """Accept and carry out a PUT of what exists. Raises as `create`."""
        with self.clock.changed:
            record = request.current
            assert record
            kind.refuse_update(self, request)
            fault = request_faults.meet(self, kind.pulumi_type, request.id, "update")
            record.outputs = kind.render(self, request)
            record.inputs = dict(request.inputs)
            # What was never made is made now: a PUT on a failed resource tries again.
            again = record.failure and not record.details.get("provisioned")
            self.begin(record, "create" if again else "update", fault)
        return self.wait(record, caller)

    def delete(self, kind: Kind, record: Record, caller: str) -> None:
        """Delete a resource. Raises AzureError, OperationFailedError."""
        with self.clock.changed:
            kind.refuse_delete(self, record)
            fault = request_faults.meet(self, kind.pulumi_type, record.id, "delete")
            self.begin(record, "delete", fault)
        self.wait(record, caller)

    def begin(self, record: Record, operation: OperationKind, fault: str | None = None) -> None:
        """Start an operation that has been accepted. fault: the error it is to end with."""
        record.operation = Operation(kind=operation, started=time.time(), fault=fault)
        record.failure = None
        self.show_state(record, _UNDER_WAY[operation])
        _LOG.info("%s %s", _UNDER_WAY[operation].lower(), self.describe(record))
        self._run(record)

    def show_state(self, record: Record, state: str) -> None:
        """Set the provisioning state that a read shows, and write the record down."""
        if "provisioningState" in self.kinds[record.pulumi_type].output_names:
            record.outputs["provisioningState"] = state
        self.store.put(record)

    def wait(self, record: Record, caller: str) -> Record:
        """Wait for a record's operation to end. Raises OperationFailedError, Cancelled, Stopped."""
        self.clock.wait_for(lambda: record.operation is None, caller)
        if record.failure:
            raise OperationFailedError(record)
        return record

    def describe(self, record: Record) -> str:
        """A resource in human terms."""
        return f"{record.pulumi_type.rpartition(':')[2]} {last_part(record.id)}"

    def _run(self, record: Record) -> None:
        threading.Thread(target=self._carry_out, args=(record,), name=record.id, daemon=True).start()

    def _carry_out(self, record: Record) -> None:
        operation = record.operation
        assert operation
        kind = self.kinds[record.pulumi_type]
        works: dict[OperationKind, Work] = {"create": kind.create, "update": kind.update, "delete": kind.delete}
        try:
            request_faults.fail_early(self, record, operation)
            works[operation.kind](self, record)
            request_faults.fail_late(operation)
            failure = None
        except Stopped:
            return
        except AzureError as error:
            failure = error.after_acceptance()
        except Exception as error:
            _LOG.exception("the %s of %s", operation.kind, record.id)
            failure = f'Status=200 Code="InternalServerError" Message="{type(error).__name__}: {error}"'
        self._finish(record, operation, failure)

    def _finish(self, record: Record, operation: Operation, failure: str | None) -> None:
        with self.clock.changed:
            record.failure = failure
            record.operation = None
            if operation.kind == "delete" and not failure:
                self.store.remove(record.id)
            else:
                if operation.kind != "delete" and not failure:
                    record.details["provisioned"] = True
                ended = "Canceled" if operation.fault == "Canceled" else "Failed"
                self.show_state(record, ended if failure else "Succeeded")
            access.write_down(self)
            took = time.time() - operation.started
            _LOG.info("%s %s after %.1f s", failure or _FINISHED[operation.kind], self.describe(record), took)
            self.clock.changed.notify_all()
