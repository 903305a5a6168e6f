"""Operations of Microsoft.Compute on one machine of a pool, a restart or a redeployment, which people request and poll.

The operations are kept with their pool, so a simulator that is started again takes them up. A later one of the same
machine ends an earlier one: its status is Canceled, its code OperationPreempted (Azure/azure-sdk-for-net, tests of
responses to long-running operations, read 2026-11-25).
"""

import json
import logging
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, Final

from rehearsal.azure import request_faults
from rehearsal.azure.clock import Stopped
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
from rehearsal.azure.machines import node_name
from rehearsal.azure.node_parts import BOOT_ANNOTATION, MACHINE_ANNOTATION
from rehearsal.azure.resources.groups import stamp
from rehearsal.azure.resources.pool_defaults import TYPE
from rehearsal.azure.resources.pool_machines import document, facts
from rehearsal.azure.store import Record

_LOG: Final = logging.getLogger(__name__)
_IN_PROGRESS: Final = "InProgress"
_PREEMPTED: Final = "The operation has been preempted by a more recent operation"
_LATENCIES: Final[Mapping[str, str]] = {"restart": "nodeReboot", "redeploy": "nodeRedeploy"}


def begin(cloud: Cloud, pool: Record, action: str, instance: int, fault: str | None) -> str:
    """Begin an accepted operation; its name. fault: with which it ends."""
    asked: dict[str, dict[str, Any]] = pool.details.setdefault("asked", {})
    for earlier in asked.values():
        if earlier["instance"] == instance and earlier["status"] == _IN_PROGRESS:
            _end(earlier, "Canceled", "OperationPreempted", _PREEMPTED)
    name, known = str(uuid.uuid4()), {"instance": instance, "fault": fault}
    asked[name] = {"action": action, "started": time.time(), "status": _IN_PROGRESS, **known}
    cloud.store.put(pool)
    _run(cloud, pool, name)
    return name


def resume(cloud: Cloud) -> None:
    """Take up what Microsoft.Compute was at when the simulator was killed."""
    for pool in cloud.store.all(TYPE):
        for name, asked in pool.details.get("asked", {}).items():
            if asked["status"] == _IN_PROGRESS:
                _run(cloud, pool, name)


def operation(cloud: Cloud, name: str) -> dict[str, Any]:
    """The progress of an operation. Raises AzureError for one that was not requested."""
    for pool in cloud.store.all(TYPE):
        if (asked := pool.details.get("asked", {}).get(name)) is not None:
            error = {"error": {"code": asked["code"], "message": asked["message"]}} if "code" in asked else {}
            ended = {"endTime": stamp(asked["ended"])} if "ended" in asked else {}
            return {"name": name, "status": asked["status"], "startTime": stamp(asked["started"]), **ended, **error}
    raise refused("no-such-operation", name=name)


def _end(asked: dict[str, Any], status: str, code: str = "", message: str = "") -> None:
    asked |= {"status": status, "ended": time.time(), **({"code": code, "message": message} if code else {})}


def _run(cloud: Cloud, pool: Record, name: str) -> None:
    threading.Thread(target=_carry_out, args=(cloud, pool, name), name=name, daemon=True).start()


def _carry_out(cloud: Cloud, pool: Record, name: str) -> None:
    asked = pool.details["asked"][name]
    if asked["fault"] == "Hang":
        _LOG.info("a %s of machine %d hangs", asked["action"], asked["instance"])
        return
    try:
        if asked["fault"] is None:
            _boot(cloud, pool, asked)
        cloud.clock.pause_until(asked["started"] + cloud.clock.latencies.seconds(_LATENCIES[asked["action"]]))
    except Stopped:
        return
    with cloud.clock.changed:
        if asked["status"] == _IN_PROGRESS:
            failed = request_faults.no_room(pool, asked["fault"]) if asked["fault"] else None
            _end(asked, *(("Failed", failed.code, failed.message) if failed else ("Succeeded",)))
            cloud.store.put(pool)


def _boot(cloud: Cloud, pool: Record, asked: dict[str, Any]) -> None:
    """Let the machine's simulator know that it starts again.

    A redeployed one is on another host, and an ephemeral disk does not come along: it is made again from the node image
    (Azure, "Ephemeral OS disks for Azure VMs"). Name and VM ID stay.
    """
    with cloud.clock.changed:
        machine = next((each for each in pool.details["machines"] if each["instance"] == asked["instance"]), None)
        if machine is None or asked.get("told"):
            return
        moved = asked["action"] == "redeploy"
        machine["boots"], machine["host"] = machine.get("boots", 0) + 1, machine.get("host", 0) + moved
        asked["told"] = True
        cloud.store.put(pool)
    disk = "new" if moved and pool.outputs["osDiskType"] == "Ephemeral" else "kept"
    boot = {"number": machine["boots"], "action": asked["action"], "disk": disk}
    is_now = document(cloud, pool, machine)["metadata"]["annotations"][MACHINE_ANNOTATION]
    annotations = {BOOT_ANNOTATION: json.dumps(boot), MACHINE_ANNOTATION: is_now}
    cloud.cluster_api(pool.id).annotate(node_name(facts(cloud, pool), machine["instance"]), annotations)
    _LOG.info("%s of machine %d of pool %s", asked["action"], machine["instance"], pool.outputs["name"])
