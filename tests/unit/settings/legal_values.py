"""Legal values of each setting, made from its declaration: what its type, its bounds and its rule allow."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, cast, get_args, get_origin

from aks_infiniband.azure import arguments
from aks_infiniband.facts import rules
from aks_infiniband.facts.rules import Matching
from annotated_types import Ge, Gt, Interval, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

FIGURE: Final = "rdma-write-bandwidth"
_FILES: Final = Path(__file__).with_name("files")
_SUBSCRIPTION: Final = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/net/providers"
EXAMPLES: Final[dict[Matching, list[Any]]] = {
    rules.version: ["1.36", "1.34", "1.35.8"],
    rules.pool_name: ["another"],
    rules.resource_name: ["another"],
    rules.resource_group_name: ["another"],
    rules.vm_size: ["Standard_ND96isr_H200_v5", "Standard_HB176rs_v4", "Standard_D16s_v5"],
    rules.zone: ["1"],
    rules.label_key: ["topology.example.com/rack"],
    rules.label_value: ["another"],
    rules.taint: ["another=one:NoSchedule"],
    rules.namespace: ["another"],
    rules.object_id: ["01234567-89ab-cdef-0123-456789abcdef", "fedcba98-89ab-cdef-0123-456789abcdef"],
    rules.interface_name: ["ibP259p0s0"],
    rules.pci_id: ["101c"],
    rules.chart_repository: ["https://charts.example.com/nvidia"],
    rules.chart_location: ["https://charts.example.com/nvidia"],
    rules.image_registry: ["mirror.azurecr.io/nvidia"],
    rules.image: ["mirror.azurecr.io/tests:1.2"],
    rules.image_repository: ["another.azurecr.io/amd/kmod"],
    rules.image_tag: ["1.2.3-4"],
    rules.chart_name: ["oci://mirror.azurecr.io/charts/another"],
    rules.chart_version: ["99.1.2"],
    rules.text: [
        FIGURE,
        "another",
        *(str(_FILES / name) for name in ("values.yaml", "kubeconfig.yaml", "topology.xml")),
    ],
    rules.word: ["another"],
    rules.region: ["southcentralus"],
    rules.subnet_id: [
        f"{_SUBSCRIPTION}/Microsoft.Network/virtualNetworks/hub/subnets/nodes",
        f"{_SUBSCRIPTION}/Microsoft.Network/virtualNetworks/hub/subnets/pods",
    ],
    rules.identity_id: [f"{_SUBSCRIPTION}/Microsoft.ManagedIdentity/userAssignedIdentities/another"],
    rules.snapshot_id: [f"{_SUBSCRIPTION}/Microsoft.ContainerService/snapshots/another"],
    rules.workspace_id: [f"{_SUBSCRIPTION}/Microsoft.Monitor/accounts/another"],
    rules.capacity_reservation_group_id: [f"{_SUBSCRIPTION}/Microsoft.Compute/capacityReservationGroups/another"],
    rules.schedule: ["23 * * * *"],
    arguments.TAG_NAME: ["another"],
    arguments.TAG_VALUE: ["another"],
}
"""By the rule that a text follows, texts that follow it. A setting with a new rule needs an example here."""
_PLAIN: Final[dict[Any, tuple[Any, ...]]] = {
    bool: (True, False),
    IPv4Network: ("172.29.0.0/16", "10.99.0.0/16", "10.224.0.0/13", "10.225.0.0/16", "20.20.0.0/16"),
    IPv4Address: ("192.168.0.1",),
}


def legal_values(model: type[BaseModel], name: str) -> Iterator[Any]:
    """Values that the field's own type takes, as a stack file has them. Raises LookupError for a text whose rule lacks
    an example.
    """
    field = model.model_fields[name]
    yield from _of(field.annotation, field.metadata)


def _of(annotation: Any, metadata: list[Any]) -> Iterator[Any]:
    origin, members = get_origin(annotation), [each for each in get_args(annotation) if each is not NoneType]
    if origin is Annotated:
        yield from _of(members[0], [*metadata, *members[1:]])
    elif origin in (Union, UnionType):
        for member in members:
            yield from _of(member, metadata)
    elif origin is Literal:
        yield from members
    elif origin is tuple:
        yield from ([value] for value in _of(members[0], []))
    elif origin is dict:
        yield from _mappings(*members)
    else:
        yield from _one(annotation, metadata)


def _one(annotation: Any, metadata: list[Any]) -> Iterator[Any]:
    if annotation in (int, float):
        yield from _numbers(metadata, annotation)
    elif annotation is str:
        yield from _texts(metadata)
    elif annotation in _PLAIN:
        yield from _PLAIN[annotation]
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from sections(annotation)
    else:
        raise LookupError(f"no legal value is known of {annotation}")


def sections(model: type[BaseModel]) -> Iterator[dict[str, Any]]:
    """A mapping with all that the model demands."""
    required = {field.alias or name: name for name, field in model.model_fields.items() if field.is_required()}
    yield {key: next(legal_values(model, name)) for key, name in required.items()}


def _mappings(key: Any, value: Any) -> Iterator[dict[str, Any]]:
    if value is Any:
        yield {"another": {"key": 1}}
        yield {"testRunner": {"enable": True}}  # a DeviceConfig has its own fields alone
        return
    for name in _of(key, []):
        for item in _of(value, []):
            yield {name: item}


def _numbers(metadata: list[Any], kind: type) -> Iterator[Any]:
    least: Any = 1.0
    most: Any = 1000.0
    for part in _parts(metadata):
        if isinstance(part, Interval):
            least, most = (
                part.ge if part.ge is not None else cast("float", part.gt or 0) + 1,
                part.le or part.lt or most,
            )
        elif isinstance(part, Ge | Gt):
            least = part.ge if isinstance(part, Ge) else part.gt
        elif isinstance(part, Le | Lt):
            most = part.le if isinstance(part, Le) else part.lt
    for value in (least, least + 1, least + 2, (least + most) // 2, most):
        yield kind(value)


def _parts(metadata: list[Any]) -> Iterator[Any]:
    for part in metadata:
        yield from _parts(part.metadata) if isinstance(part, FieldInfo) else (part,)


def _texts(metadata: list[Any]) -> Iterator[str]:
    rule = next((part for part in _parts(metadata) if isinstance(part, Matching)), None)
    if rule is not None:
        if rule not in EXAMPLES:
            raise LookupError(f"a text that must be {rule.says} has no example in EXAMPLES")
        yield from EXAMPLES[rule]
    elif any(getattr(part, "func", None) is rules.region_name for part in metadata):
        yield from ("westus3", "eastus")
    else:
        raise LookupError("a text without a rule has no example")
