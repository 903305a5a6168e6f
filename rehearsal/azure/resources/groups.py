"""Resource groups: they must be in a region, and everything in them goes with them."""

from datetime import UTC, datetime
from typing import Any, Final

from pulumi_azure_native import resources

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.difference import normalized_location
from rehearsal.azure.errors import refused
from rehearsal.azure.kinds import Kind, Request, resource_latency
from rehearsal.azure.store import Record

_TYPE: Final = "azure-native:resources:ResourceGroup"
_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"


def require_group(cloud: Cloud, request: Request) -> Record:
    """The resource group that a request is for. Raises AzureError when it does not exist."""
    group = request.path["resourceGroupName"]
    record = cloud.store.get(request.id[: request.id.lower().index("/resourcegroups/")] + f"/resourceGroups/{group}")
    if record is None:
        raise refused("no-such-group", group=group)
    return record


def require_region(cloud: Cloud, request: Request, arm_type: str) -> str:
    """The region that a request is for. Raises AzureError when the subscription does not have it."""
    location = str(request.inputs["location"])
    region = normalized_location(location)
    if region not in cloud.subscription.regions:
        raise refused(
            "no-such-region", location=location, arm_type=arm_type, regions=",".join(sorted(cloud.subscription.regions))
        )
    return region


def located(cloud: Cloud, request: Request, arm_type: str) -> None:
    """Refuse a resource whose group or region does not exist."""
    require_group(cloud, request)
    require_region(cloud, request, arm_type)


def base_outputs(kind_path: str, request: Request, arm_type: str, api_version: str) -> dict[str, Any]:
    """The inputs that are not in the path, and what every resource shows."""
    path = set(naming.path_parameters(kind_path))
    shown = {key: value for key, value in request.inputs.items() if key not in path and not key.startswith("__")}
    if "location" in shown:
        shown["location"] = normalized_location(str(shown["location"]))
    return {**shown, "name": request.name, "type": arm_type, "azureApiVersion": api_version}


def stamp(seconds: float | None = None) -> str:
    """A time, in seconds since the epoch, or else now, as Azure writes it."""
    time = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return time.isoformat().replace("+00:00", "Z")


def _refuse(cloud: Cloud, request: Request) -> None:
    require_region(cloud, request, "Microsoft.Resources/resourceGroups")


def _render(_cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(RESOURCE_GROUP.path, request, RESOURCE_GROUP.arm_type, RESOURCE_GROUP.api_version)
    return {**shown, "properties": {"provisioningState": "Succeeded"}}


def _delete(cloud: Cloud, record: Record) -> None:
    """Delete the content of the group: clusters as separate operations, with their machines; all else at once."""
    clusters = list(cloud.store.all(_CLUSTER, under=record.id))
    for cluster in clusters:
        if cluster.operation is None or cluster.operation.kind != "delete":
            cloud.begin(cluster, "delete")
    for cluster in clusters:
        cloud.clock.wait_for(lambda cluster=cluster: cluster.operation is None)  # type: ignore[misc]
    resource_latency(cloud, record)
    for inner in cloud.store.all(under=record.id):
        cloud.store.remove(inner.id)


RESOURCE_GROUP: Final = Kind(
    pulumi_type=_TYPE,
    arguments=resources.ResourceGroupArgs,
    resource=resources.ResourceGroup,
    arm_type="Microsoft.Resources/resourceGroups",
    path="/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}",
    naming="random",
    name_rule=naming.RESOURCE_GROUP,
    force_new=frozenset({"location"}),
    refuse_create=_refuse,
    render=_render,
    delete=_delete,
)
