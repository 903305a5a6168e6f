"""The actions of Azure Resource Manager on a PUT or a POST: upgrades of clusters and pools, as AKS's clients request
them.

An answer names the operation, which the client polls until it has ended. Bodies have what Azure was recorded to answer
(tests/field_recordings/aks-bodies.yaml). A PUT that makes something new is azure-native's alone here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pulumi import _types as pulumi_types

from rehearsal.azure import machine_requests
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
from rehearsal.azure.naming import last_part, parse_id
from rehearsal.azure.resources import KINDS, agent_pools, pool_defaults
from rehearsal.azure.resources.groups import stamp
from rehearsal.azure.store import Record

CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
_ABOVE: Final = ("location", "tags", "sku", "identity", "kind", "extendedLocation", "eTag")
"""The keys of a cluster's body outside its properties."""
Body = Mapping[str, Any]


def put(cloud: Cloud, resource: str, body: Body, matching: str | None = None) -> Record:
    """Accept a PUT of a cluster or pool that is there. matching: the entity tag that it has to have (If-Match; Azure,
    "Use entity tags (eTags) for concurrency control in AKS"). Raises AzureError.
    """
    record = cloud.store.get(resource)
    if record is None or record.pulumi_type not in (CLUSTER, pool_defaults.TYPE):
        raise refused("put-not-simulated", resource=resource)
    kind = KINDS[record.pulumi_type]
    known = set(pulumi_types.input_type_py_to_pulumi_names(kind.arguments).values())
    given = {**{key: body[key] for key in _ABOVE if key in body}, **(body.get("properties") or {})}
    named = {"nodeImageVersion"} if record.pulumi_type == pool_defaults.TYPE else set()
    path = parse_id(kind.path, record.id) or {}
    inputs = {
        **{key: value for key, value in given.items() if key in known | named and value is not None},
        **{key: path[key] for key in kind.parameters},
    }
    if record.pulumi_type == CLUSTER:
        inputs["agentPoolProfiles"] = _own_profiles(record, given.get("agentPoolProfiles") or ())
        inputs["identity"] = record.inputs.get("identity")
    with cloud.clock.changed:
        if matching not in (None, "*") and str(matching).strip('"') != record.outputs["eTag"]:
            raise refused("changed-since-it-was-read", resource=resource)
        return cloud.update(record.pulumi_type, record.id, inputs)


def _own_profiles(record: Record, given: Any) -> list[Any]:
    """The profiles of a cluster's pools that were made with it: others are upgraded by separate requests."""
    own = {profile["name"] for profile in record.outputs["agentPoolProfiles"]}
    return [profile for profile in given if profile["name"] in own]


def post(cloud: Cloud, resource: str, body: Body) -> Record:
    """Accept an action. resource: the path. Raises AzureError."""
    for pattern, action in _ACTIONS.items():
        match = re.fullmatch(pattern, resource, re.IGNORECASE)
        if match is not None:
            return action(cloud, _there(cloud, match[1]), body)
    raise refused("post-not-simulated", resource=resource)


def _there(cloud: Cloud, resource: str) -> Record:
    record = cloud.store.get(resource)
    if record is None:
        raise refused("no-such-resource", resource=resource)
    return record


def _upgrade_node_image(cloud: Cloud, record: Record, _body: Body) -> Record:
    """Give a pool the newest node image of its OS and Kubernetes, or carry on with giving it."""
    with cloud.clock.changed:
        cluster = cloud.store.get(record.id[: record.id.casefold().rfind("/agentpools/")])
        assert cluster
        agent_pools.refuse_conflict(cluster, record)
        without = {key: value for key, value in record.outputs.items() if key != "nodeImageVersion"}
        newest = pool_defaults.defaults(cloud, without, cluster.outputs)["nodeImageVersion"]
        record.outputs["nodeImageVersion"] = newest
        cloud.begin(record, "update")
    return record


def _abort(cloud: Cloud, record: Record, _body: Body) -> Record:
    """End the operation that is under way, at a point at which it can be left. Raises AzureError if nothing is (the
    words are assumed).
    """
    with cloud.clock.changed:
        if record.operation is None:
            raise refused("nothing-to-abort", name=last_part(record.id))
        record.operation.aborting = True
        record.outputs["provisioningState"] = "Canceling"
        cloud.store.put(record)
        cloud.clock.changed.notify_all()
    return record


def _delete_machines(cloud: Cloud, record: Record, body: Body) -> Record:
    return machine_requests.delete(cloud, record, body.get("machineNames") or [])


_ACTIONS: Final[Mapping[str, Callable[[Cloud, Record, Body], Record]]] = {
    "(/.+/agentPools/[^/]+)/deleteMachines": _delete_machines,
    "(/.+/agentPools/[^/]+)/upgradeNodeImageVersion": _upgrade_node_image,
    "(/.+/managedClusters/[^/]+(?:/agentPools/[^/]+)?)/abort": _abort,
}


def shown(cloud: Cloud, record: Record) -> dict[str, Any]:
    """A cluster or pool as a GET shows it; all pools of a cluster are among its profiles."""
    outputs, above = dict(record.outputs), dict[str, Any]()
    arm_type = KINDS[record.pulumi_type].arm_type
    if record.pulumi_type == CLUSTER:
        above = {key: outputs.pop(key) for key in _ABOVE if key in outputs}
        del outputs["type"]
        pools = cloud.store.all(pool_defaults.TYPE, under=record.id)
        outputs["agentPoolProfiles"] = [{**_properties(pool.outputs), "name": last_part(pool.id)} for pool in pools]
    name = last_part(record.id)
    return {"id": record.id, "name": name, "type": arm_type, **above, "properties": _properties(outputs)}


def _properties(outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in outputs.items() if key not in ("azureApiVersion", "name")}


def operation(cloud: Cloud, name: str) -> Body:
    """The progress of an operation, by its ID. Raises AzureError for one that is not known any more."""
    for record in cloud.store.all():
        if record.operation and record.operation.id == name:
            status = "Canceling" if record.operation.aborting else "InProgress"
            return {"name": name, "status": status, "startTime": stamp(record.operation.started)}
        last = record.details.get("lastOperation") or {}
        if last.get("id") == name:
            state = str(record.outputs.get("provisioningState", "Succeeded"))
            ended = {"name": name, "startTime": stamp(last["started"]), "endTime": stamp(last["ended"])}
            if record.failure is None:
                return {**ended, "status": "Succeeded"}
            status = "Canceled" if state == "Canceled" else "Failed"
            return {**ended, "status": status, "error": record.details.get("error") or {"message": record.failure}}
    raise refused("no-such-operation", name=name)


def upgrade_profile(cloud: Cloud, record: Record) -> Body:
    """The versions that a pool can be upgraded to, and rolled back to: recorded, aks-pool-upgrades. Versions that were
    used stand in the order of their use, the oldest first; Azure promises none.
    """
    cluster = cloud.store.get(record.id[: record.id.casefold().rfind("/agentpools/")])
    assert cluster
    without = {key: value for key, value in record.outputs.items() if key != "nodeImageVersion"}
    latest = pool_defaults.defaults(cloud, without, cluster.outputs)["nodeImageVersion"]
    version, above = record.outputs["currentOrchestratorVersion"], cluster.outputs["currentKubernetesVersion"]
    newer = [{"kubernetesVersion": above}] if above != version else []
    had, moments = record.details.get("before", []), record.details.get("usedAt", [])
    before = [
        {"orchestratorVersion": kubernetes, "nodeImageVersion": image, "timestamp": stamp(used)}
        for (image, kubernetes), used in zip(had, moments, strict=True)
    ]
    return {
        "id": f"{record.id}/upgradeProfiles/default",
        "name": "default",
        "type": "Microsoft.ContainerService/managedClusters/agentPools/upgradeProfiles",
        "properties": {
            "kubernetesVersion": version,
            "osType": "Linux",
            "latestNodeImageVersion": latest,
            **({"upgrades": newer} if newer else {}),
            **({"recentlyUsedVersions": before} if before else {}),
        },
    }
