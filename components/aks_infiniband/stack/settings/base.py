"""What the sections of the settings have in common: the base model, and the types that several of them use."""

from ipaddress import IPv4Network
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from aks_infiniband.stack.settings import addresses, rules

_RANGE: Final = {
    "type": "string",
    "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$",
    "patternErrorMessage": "must be an IPv4 range such as 10.224.0.0/16",
}
Zone = Annotated[str, rules.zone]
_Written = Annotated[IPv4Network, BeforeValidator(addresses.network), WithJsonSchema(_RANGE)]
Network = Annotated[_Written, AfterValidator(addresses.network_range)]
"""A range that a cluster may use."""
PublicRange = Annotated[_Written, AfterValidator(addresses.public_range)]
"""A range of the internet."""
Labels = dict[Annotated[str, rules.label_key], Annotated[str, rules.label_value]]
"""Labels by which nodes are picked."""
Text = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False)]

MOST_NODES: Final = 1000
"""Nodes that AKS takes in one pool (Azure, "Quotas, virtual machine size restrictions, and region availability")."""
LARGEST_POOL: Final = 100
"""Machines that one placement group, and so one InfiniBand fabric, takes (Azure, "Scale sets and placement groups")."""


class Section(BaseModel):
    """A mapping of the stack file; keys in YAML are camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )
