"""The content of the simulated subscription, kept in one file that is written atomically: a killed simulator carries
on.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

OperationKind = Literal["create", "update", "delete"]


@dataclass(kw_only=True)
class Operation:
    """Azure's operation on a resource.

    started: seconds since the epoch; fault: the error it is to end with; late: when all is done that can be done;
    aborting: a user has requested its end; id: of its status.
    """

    kind: OperationKind
    started: float
    fault: str | None = None
    late: bool = False
    aborting: bool = False
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


@dataclass(kw_only=True)
class Record:
    """One resource.

    pulumi_type: its type for Pulumi; inputs: the last request; outputs: the result of a read; failure: why the last
    operation failed; details: Azure's knowledge that it does not show (fabrics, instance numbers).
    """

    id: str
    pulumi_type: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    operation: Operation | None = None
    failure: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


class Store:
    """Records by ID; IDs are compared without case, as Azure does.

    lock: held by every change of a record in place, so that no half of a change is saved.
    """

    def __init__(self, file: Path, lock: AbstractContextManager[Any]) -> None:
        self._file = file
        self._lock = lock
        self._records: dict[str, Record] = {}
        if file.exists():
            for data in json.loads(file.read_text())["resources"]:
                operation = Operation(**data.pop("operation")) if data["operation"] else data.pop("operation")
                self._records[data["id"].casefold()] = Record(operation=operation, **data)

    @property
    def folder(self) -> Path:
        """The folder of the subscription."""
        return self._file.parent

    def get(self, resource: str) -> Record | None:
        """The record of an ID."""
        return self._records.get(resource.casefold())

    def put(self, record: Record) -> None:
        """Add or replace a record."""
        with self._lock:
            self._records[record.id.casefold()] = record
            self.save()

    def remove(self, resource: str) -> None:
        """Forget an ID. Nothing happens if it is not there."""
        with self._lock:
            self._records.pop(resource.casefold(), None)
            self.save()

    def all(self, pulumi_type: str | None = None, *, under: str = "") -> Iterator[Record]:
        """Records of a type, whose IDs lie under an ID."""
        prefix = f"{under.casefold()}/" if under else ""
        for key, record in list(self._records.items()):
            if key.startswith(prefix) and pulumi_type in (None, record.pulumi_type):
                yield record

    def save(self) -> None:
        """Write everything down."""
        with self._lock:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft = self._file.with_suffix(".tmp")
            draft.write_text(json.dumps({"resources": [asdict(record) for record in self._records.values()]}, indent=1))
            draft.replace(self._file)
