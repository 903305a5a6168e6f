"""Completes the state of an engine that was killed before it could record its requests to Azure.

Azure has the resource, or is making it. Without this the next engine would repeat a request, and Azure would refuse, or
make a second one. A person whose engine was killed edits the state by hand: `pulumi stack export`, then `import`. The
next command updates the resources that are taken in here, as it does after an interruption that the engine could
record.
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

_NOTE: Final = "the engine was killed while this was being made"
_LOOK_EVERY_S: Final = 0.1
_LIMIT_S: Final = 120.0
"""More than Azure takes for a cluster at the usual speeds. At slower ones the next command updates what comes later."""


def pending_creates(deployment: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The resources that an engine was making when it was killed."""
    pending = deployment.get("pending_operations") or []
    return [operation["resource"] for operation in pending if operation["type"] == "creating"]


def pending_deletes(deployment: Mapping[str, Any]) -> Sequence[str]:
    """The URNs of the resources that an engine was deleting when it was killed: they may be gone, or there.

    For most it makes no difference, but a Helm release that is gone cannot be uninstalled again.
    """
    pending = deployment.get("pending_operations") or []
    known = {resource["urn"] for resource in deployment.get("resources") or []}
    urns = [operation["resource"]["urn"] for operation in pending if operation["type"] == "deleting"]
    return [urn for urn in urns if urn in known]


def settled(deployment: Mapping[str, Any], azure: Path) -> dict[str, Any]:
    """The state with what Azure has, and with nothing pending. The engine applies objects again that only the cluster
    may have.

    deployment: the stack's state, as the engine keeps it; azure: file of what the simulated subscription holds.
    """
    resources = [dict(resource) for resource in deployment.get("resources") or []]
    for made in _made(deployment, azure):
        for old in resources:
            if old["urn"] == made["urn"]:
                old["delete"] = True  # it was being replaced
        resources.append(made)
    kept = {key: value for key, value in deployment.items() if key != "pending_operations"}
    return {**kept, "resources": resources}


def await_azure(azure: Path) -> None:
    """Wait until no operation is under way in the simulated Azure."""
    deadline = time.monotonic() + _LIMIT_S
    while any(record["operation"] for record in _held(azure)) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY_S)


def has_cluster(azure: Path) -> bool:
    """True if the simulated subscription holds a cluster."""
    return any(record["pulumi_type"] == "azure-native:containerservice:ManagedCluster" for record in _held(azure))


def _made(deployment: Mapping[str, Any], azure: Path) -> Iterator[dict[str, Any]]:
    noted = {str(resource.get("id")).casefold() for resource in deployment.get("resources") or []}
    unnoted = [record for record in _held(azure) if record["id"].casefold() not in noted]
    for resource in pending_creates(deployment):
        identity = next((record["id"] for record in unnoted if _is(record, resource)), None)
        if identity is not None:
            yield {**resource, "id": identity, "outputs": {}, "initErrors": [_NOTE]}


def _held(azure: Path) -> list[dict[str, Any]]:
    return list(json.loads(azure.read_text())["resources"]) if azure.exists() else []


def _is(record: Mapping[str, Any], resource: Mapping[str, Any]) -> bool:
    """True if Azure's resource is the one that the engine was making: of its type, and named by one of its inputs."""
    inputs = resource.get("inputs") or {}
    names = {value.casefold() for value in inputs.values() if isinstance(value, str)}
    return record["pulumi_type"] == resource["type"] and record["id"].rpartition("/")[2].casefold() in names
