"""Operations on the simulated subscription: requests refused as Azure refuses them, accepted ones carried out.

An accepted request is an operation that runs in a separate thread, whether or not its caller waits. The operation is
saved before it starts, so that a simulator that is started again carries on.
"""

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from rehearsal.azure import access, request_faults
from rehearsal.azure.clock import Stopped
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AlreadyExistsError, AzureError
from rehearsal.azure.kinds import Kind, Request, Work
from rehearsal.azure.naming import last_part, parse_id
from rehearsal.azure.store import Operation, OperationKind, Record

_LOG: Final = logging.getLogger(__name__)
_FINISHED: Final = {"create": "created", "update": "updated", "delete": "deleted"}
_UNDER_WAY: Final[dict[OperationKind, str]] = {"create": "Creating", "delete": "Deleting"}


@dataclass(frozen=True)
class Operations:
    """The operations in one subscription. kinds: the resource types it knows, by their token."""

    cloud: Cloud
    kinds: Mapping[str, Kind]

    def __post_init__(self) -> None:
        self.cloud.start = self._start
        self.cloud.update = self._update_unwatched

    def resume(self) -> None:
        """Carry on with what was under way when the simulator was killed."""
        for record in self.cloud.store.all():
            if record.operation:
                _LOG.info("carrying on with the %s of %s", record.operation.kind, record.id)
                self._run(record)

    def create(self, kind: Kind, request: Request, caller: str) -> Record:
        """Accept and carry out a new resource's PUT, while `caller` (a connection) waits.

        Raises AzureError, AlreadyExistsError, OperationFailedError; Cancelled when the caller waits no longer.
        """
        with self.cloud.clock.changed:
            if request.current:
                raise AlreadyExistsError(request.id)
            kind.refuse_create(self.cloud, request)
            fault = request_faults.meet(self.cloud, kind.pulumi_type, request.id, "create")
            record = Record(
                id=request.id,
                pulumi_type=kind.pulumi_type,
                inputs=dict(request.inputs),
                outputs=kind.render(self.cloud, request),
            )
            self.cloud.begin(record, "create", fault)
        return self.cloud.wait(record, caller)

    def update(self, kind: Kind, request: Request, caller: str) -> Record:
        """Accept and carry out a PUT of what exists. Raises as `create`."""
        return self.cloud.wait(self._accept(kind, request), caller)

    def _update_unwatched(self, pulumi_type: str, resource: str, inputs: Mapping[str, Any]) -> Record:
        kind, current = self.kinds[pulumi_type], self.cloud.store.get(resource)
        assert current
        path = parse_id(kind.path, current.id) or {}
        return self._accept(kind, Request(id=current.id, path=path, inputs=inputs, current=current))

    def _accept(self, kind: Kind, request: Request) -> Record:
        with self.cloud.clock.changed:
            record = request.current
            assert record
            kind.refuse_update(self.cloud, request)
            fault = request_faults.meet(self.cloud, kind.pulumi_type, request.id, "update")
            record.outputs = kind.render(self.cloud, request)
            record.inputs = dict(request.inputs)
            # A resource that was never made is made now: a PUT on a failed resource tries again.
            again = record.failure and not record.details.get("provisioned")
            self.cloud.begin(record, "create" if again else "update", fault)
        return record

    def delete(self, kind: Kind, record: Record, caller: str) -> None:
        """Delete a resource. Raises AzureError, OperationFailedError."""
        with self.cloud.clock.changed:
            kind.refuse_delete(self.cloud, record)
            fault = request_faults.meet(self.cloud, kind.pulumi_type, record.id, "delete")
            self.cloud.begin(record, "delete", fault)
        self.cloud.wait(record, caller)

    def _start(self, record: Record) -> None:
        assert record.operation
        updating = record.operation.kind == "update"
        state = self.kinds[record.pulumi_type].updating(record) if updating else _UNDER_WAY[record.operation.kind]
        self.show_state(record, state)
        _LOG.info("%s %s", state.lower(), _describe(record))
        self._run(record)

    def show_state(self, record: Record, state: str) -> None:
        """Set the provisioning state that a read shows, and write the record to disk."""
        if "provisioningState" in self.kinds[record.pulumi_type].output_names:
            record.outputs["provisioningState"] = state
            for pool in record.outputs.get("agentPoolProfiles") or ():
                pool["provisioningState"] = state  # a cluster's operation is one on each of these pools
        self.cloud.store.put(record)

    def _run(self, record: Record) -> None:
        threading.Thread(target=self._carry_out, args=(record,), name=record.id, daemon=True).start()

    def _carry_out(self, record: Record) -> None:
        operation = record.operation
        assert operation
        kind = self.kinds[record.pulumi_type]
        works: dict[OperationKind, Work] = {"create": kind.create, "update": kind.update, "delete": kind.delete}
        try:
            request_faults.fail_early(self.cloud, record, operation)
            works[operation.kind](self.cloud, record)
            request_faults.await_company(self.cloud, record, operation)
            request_faults.fail_late(record, operation)
            failure = None
        except Stopped:
            return
        except AzureError as error:
            failure = error.after_acceptance()
            record.details["error"] = {"code": error.code, "message": error.message}
        except (httpx2.TransportError, ConnectionError) as error:
            _LOG.exception("the %s of %s", operation.kind, record.id)
            failure = (
                f"the rehearsal's own API server does not answer ({error or type(error).__name__}). Azure "
                "never sends this error: see logs/kube-apiserver.log of the run folder, and run the same command again"
            )
        except Exception as error:
            _LOG.exception("the %s of %s", operation.kind, record.id)
            failure = f'Status=200 Code="InternalServerError" Message="{type(error).__name__}: {error}"'
        self._finish(record, operation, failure)

    def _finish(self, record: Record, operation: Operation, failure: str | None) -> None:
        with self.cloud.clock.changed:
            record.failure = failure
            record.operation = None
            record.details["lastOperation"] = {"id": operation.id, "started": operation.started, "ended": time.time()}
            if operation.kind == "delete" and not failure:
                self.cloud.store.remove(record.id)
            else:
                if operation.kind != "delete" and not failure:
                    record.details["provisioned"] = True
                ended = "Canceled" if operation.fault == "Canceled" or operation.aborting else "Failed"
                self.show_state(record, ended if failure else "Succeeded")
            access.write_down(self.cloud)
            took = time.time() - operation.started
            _LOG.info("%s %s after %.1f s", failure or _FINISHED[operation.kind], _describe(record), took)
            self.cloud.clock.changed.notify_all()


def _describe(record: Record) -> str:
    """A resource in human terms."""
    return f"{record.pulumi_type.rpartition(':')[2]} {last_part(record.id)}"
