"""Resources that a killed engine had asked the simulated Azure for, and could not note any more.

Azure has them, or makes them now; the engine would ask for them again, and be refused or get a second one. A person
whose engine was killed imports them by hand: `pulumi refresh --import-pending-creates`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def imports(deployment: Mapping[str, Any], azure: Path) -> list[tuple[str, str]]:
    """URN and ID of every resource that a stack's state calls pending and that Azure has.

    deployment: the stack's state as the engine keeps it; azure: file of what the simulated subscription holds.
    """
    noted = {str(resource.get("id")).casefold() for resource in deployment.get("resources") or []}
    held = json.loads(azure.read_text())["resources"] if azure.exists() else []
    unnoted = [record for record in held if record["id"].casefold() not in noted]
    found = []
    for resource in pending_creates(deployment):
        ids = (record["id"] for record in unnoted if _is(record, resource))
        found += [(resource["urn"], identity) for identity in list(ids)[:1]]
    return found


def pending_creates(deployment: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The resources that an engine was making when it was killed."""
    pending = deployment.get("pending_operations") or []
    return [operation["resource"] for operation in pending if operation["type"] == "creating"]


def _is(record: Mapping[str, Any], resource: Mapping[str, Any]) -> bool:
    """Whether what Azure holds is what the engine was making: of its type, and named by one of its inputs."""
    names = {text.casefold() for text in _texts(resource.get("inputs") or {})}
    return record["pulumi_type"] == resource["type"] and record["id"].rpartition("/")[2].casefold() in names


def _texts(inputs: Mapping[str, Any]) -> Iterator[str]:
    return (value for value in inputs.values() if isinstance(value, str))
