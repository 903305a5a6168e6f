"""Virtual networks and subnets: address ranges must be well-formed, inside one another, and unused when deleted."""

import ipaddress
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_azure_native import network

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import not_found, refused
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources.groups import base_outputs, located, require_group
from rehearsal.azure.store import Record
from rehearsal.azure.subscription import by_id

_AGENT_POOL: Final = "azure-native:containerservice:AgentPool"
_SUBNET_DEFAULTS: Final = {
    "delegations": [],
    "privateEndpointNetworkPolicies": "Disabled",
    "privateLinkServiceNetworkPolicies": "Enabled",
}
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_prefix(prefix: str, owner: str) -> Network:
    """An address prefix. Raises AzureError for a text that is not one, or has host bits set."""
    try:
        return ipaddress.ip_network(prefix)
    except ValueError as error:
        raise refused("address-prefix", prefix=prefix, owner=owner, error=error) from error


def subnet_prefixes(outputs: Mapping[str, Any]) -> list[str]:
    """A subnet's prefixes, however many there are."""
    return [
        *([outputs["addressPrefix"]] if outputs.get("addressPrefix") else []),
        *(outputs.get("addressPrefixes") or []),
    ]


def _space(outputs: Mapping[str, Any]) -> list[str]:
    return list((outputs.get("addressSpace") or {}).get("addressPrefixes") or [])


def _refuse_network(cloud: Cloud, request: Request) -> None:
    located(cloud, request, VIRTUAL_NETWORK.arm_type)
    space = _space(request.inputs)
    if not space:
        raise refused("network-without-addresses", name=request.name)
    ranges = [parse_prefix(prefix, request.id) for prefix in space]
    _refuse_overlap("network-overlaps-itself", request.name, list(zip(space, ranges, strict=True)))
    inline = request.inputs.get("subnets") or []
    for subnet in inline:
        _refuse_outside(str(subnet.get("name")), request.name, subnet_prefixes(subnet), ranges, request.id)
    inside = [(prefix, parse_prefix(prefix, request.id)) for item in inline for prefix in subnet_prefixes(item)]
    _refuse_overlap("inline-subnets-overlap", request.name, inside)


def _refuse_outside(subnet: str, network_name: str, prefixes: list[str], space: list[Network], owner: str) -> None:
    for prefix in prefixes:
        inner = parse_prefix(prefix, owner)
        if not any(outer.version == inner.version and inner.subnet_of(outer) for outer in space):  # type: ignore[arg-type]
            raise refused("subnet-outside-the-network", subnet=subnet, prefix=prefix, network_name=network_name)


def _refuse_overlap(condition: str, owner: str, ranges: list[tuple[str, Network]]) -> None:
    for index, (prefix, inner) in enumerate(ranges):
        for other_prefix, other in ranges[:index]:
            if inner.overlaps(other):
                raise refused(condition, prefix=prefix, owner=owner, other=other_prefix)


def _render_network(_cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(VIRTUAL_NETWORK.path, request, VIRTUAL_NETWORK.arm_type, VIRTUAL_NETWORK.api_version)
    before, etag = request.current.outputs if request.current else {}, _etag()
    subnets = [
        _SUBNET_DEFAULTS
        | subnet
        | {"id": f"{request.id}/subnets/{subnet['name']}", "etag": etag, "type": SUBNET.arm_type}
        | {"provisioningState": "Succeeded"}
        for subnet in request.inputs.get("subnets") or []
    ]
    return {
        "enableDdosProtection": False,
        "virtualNetworkPeerings": [],
        **shown,
        "subnets": subnets,
        "provisioningState": "Succeeded",
        "etag": etag,
        "resourceGuid": before.get("resourceGuid") or str(uuid.uuid4()),
    }


def _etag() -> str:
    """Another one with every change."""
    return f'W/"{uuid.uuid4()}"'


def subnets_of(cloud: Cloud, network_record: Record) -> Iterator[tuple[str, str, list[str]]]:
    """ID, name and prefixes of every subnet of a network, whichever way it was made."""
    for subnet in network_record.outputs.get("subnets") or []:
        yield subnet["id"], subnet["name"], subnet_prefixes(subnet)
    for record in cloud.store.all(SUBNET.pulumi_type, under=network_record.id):
        yield record.id, record.outputs["name"], subnet_prefixes(record.outputs)


def find_subnet(cloud: Cloud, subnet_id: str) -> list[str] | None:
    """The prefixes of a subnet, those of others included, or None when it does not exist."""
    existing = by_id(cloud.subscription.existing_subnets, subnet_id)
    if existing:
        return [existing.address_prefix]
    network_id = subnet_id[: subnet_id.casefold().rfind("/subnets/")]
    network_record = cloud.store.get(network_id)
    known = subnets_of(cloud, network_record) if network_record else iter(())
    return next((prefixes for known_id, _name, prefixes in known if known_id.casefold() == subnet_id.casefold()), None)


def _refuse_subnet(cloud: Cloud, request: Request) -> None:
    require_group(cloud, request)
    network_name = request.path["virtualNetworkName"]
    record = cloud.store.get(request.id[: request.id.casefold().rfind("/subnets/")])
    if record is None:
        raise not_found(VIRTUAL_NETWORK.arm_type, network_name, request.path["resourceGroupName"])
    prefixes = subnet_prefixes(request.inputs)
    if not prefixes:
        raise refused("subnet-without-addresses", name=request.name)
    space = [parse_prefix(prefix, record.id) for prefix in _space(record.outputs)]
    _refuse_outside(request.name, network_name, prefixes, space, request.id)
    for other_id, name, others in subnets_of(cloud, record):
        if other_id.casefold() == request.id.casefold():
            continue
        for prefix in prefixes:
            if any(parse_prefix(prefix, request.id).overlaps(parse_prefix(other, other_id)) for other in others):
                raise refused("subnet-overlaps", name=request.name, other=name, network_name=network_name)


def _render_subnet(_cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(SUBNET.path, request, SUBNET.arm_type, SUBNET.api_version)
    return {**_SUBNET_DEFAULTS, **shown, "provisioningState": "Succeeded", "etag": _etag()}


def _refuse_delete(cloud: Cloud, record: Record) -> None:
    for pool in cloud.store.all(_AGENT_POOL):
        for key in ("vnetSubnetID", "podSubnetID"):
            subnet = str(pool.outputs.get(key) or "")
            if f"{subnet.casefold()}/".startswith(f"{record.id.casefold()}/"):
                raise refused("subnet-in-use", name=naming.last_part(subnet), pool=pool.id)


def _delete_network(cloud: Cloud, record: Record) -> None:
    VIRTUAL_NETWORK.update(cloud, record)
    for subnet in cloud.store.all(under=record.id):
        cloud.store.remove(subnet.id)


_NETWORK_PATH: Final = (
    "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Network/virtualNetworks"
    "/{virtualNetworkName}"
)
VIRTUAL_NETWORK: Final = Kind(
    pulumi_type="azure-native:network:VirtualNetwork",
    arguments=network.VirtualNetworkInitArgs,
    resource=network.VirtualNetwork,
    arm_type="Microsoft.Network/virtualNetworks",
    path=_NETWORK_PATH,
    naming="random",
    name_rule=naming.VIRTUAL_NETWORK,
    force_new=frozenset({"location"}),
    refuse_create=_refuse_network,
    refuse_update=_refuse_network,
    refuse_delete=_refuse_delete,
    render=_render_network,
    delete=_delete_network,
)
SUBNET: Final = Kind(
    pulumi_type="azure-native:network:Subnet",
    arguments=network.SubnetInitArgs,
    resource=network.Subnet,
    arm_type="Microsoft.Network/virtualNetworks/subnets",
    path=f"{_NETWORK_PATH}/subnets/{{subnetName}}",
    naming="copy",
    name_rule=naming.SUBNET,
    location=False,
    refuse_create=_refuse_subnet,
    refuse_update=_refuse_subnet,
    refuse_delete=_refuse_delete,
    render=_render_subnet,
)
