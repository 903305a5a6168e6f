"""The simulated subscription: takes requests, refuses what Azure refuses, and carries out what it has accepted.

Every accepted request is an operation that goes on by itself, in a thread, whoever waits for it; it is written down
before it starts, and started again when the simulator is.
"""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rehearsal.azure.clock import Clock, Stopped
from rehearsal.azure.cluster_api import ClusterApi
from rehearsal.azure.errors import AlreadyExistsError, AzureError
from rehearsal.azure.kinds import Kind, Request, Work
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Operation, OperationKind, Record, Store
from rehearsal.azure.subscription import Subscription

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
    """One subscription: what it offers, what it holds, and the kinds of resource it knows."""

    subscription: Subscription
    store: Store
    clock: Clock
    cluster_api: ClusterApi
    kinds: Mapping[str, Kind]

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
            record = Record(
                id=request.id,
                pulumi_type=kind.pulumi_type,
                inputs=dict(request.inputs),
                outputs=kind.render(self, request),
            )
            self.begin(record, "create")
        return self.wait(record, caller)

    def update(self, kind: Kind, request: Request, caller: str) -> Record:
        """Accept and carry out a PUT of what exists. Raises as `create`."""
        with self.clock.changed:
            record = request.current
            assert record
            kind.refuse_update(self, request)
            record.outputs = kind.render(self, request)
            record.inputs = dict(request.inputs)
            # What was never made is made now: a PUT on a failed resource tries again.
            self.begin(record, "create" if record.failure and not record.details.get("provisioned") else "update")
        return self.wait(record, caller)

    def delete(self, kind: Kind, record: Record, caller: str) -> None:
        """Delete a resource. Raises AzureError, OperationFailedError."""
        with self.clock.changed:
            kind.refuse_delete(self, record)
            self.begin(record, "delete")
        self.wait(record, caller)

    def begin(self, record: Record, operation: OperationKind) -> None:
        """Start an operation that has been accepted."""
        record.operation = Operation(kind=operation, started=time.time())
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
            works[operation.kind](self, record)
            failure = None
        except Stopped:
            return
        except AzureError as error:
            failure = str(error)
        except Exception as error:
            _LOG.exception("the %s of %s", operation.kind, record.id)
            failure = f'Status=500 Code="InternalServerError" Message="{type(error).__name__}: {error}"'
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
                self.show_state(record, "Failed" if failure else "Succeeded")
            took = time.time() - operation.started
            _LOG.info("%s %s after %.1f s", failure or _FINISHED[operation.kind], self.describe(record), took)
            self.clock.changed.notify_all()
