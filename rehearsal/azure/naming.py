"""Names and resource IDs: which names Azure takes, and which azure-native gives a resource that has none."""

import hashlib
import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rehearsal.azure.models import Failure

AutoNaming = Literal["random", "copy", "uuid"]
"""azure-native's name for a resource: the program's name and eight hex digits, that name as it is, or a UUID."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NameRule:
    """The names that Azure accepts. Source: "Naming rules and restrictions for Azure resources"; AKS REST API."""

    longest: int
    shortest: int = 1
    pattern: str

    def failures(self, parameter: str, name: str) -> list[Failure]:
        """Why a name is refused, in azure-native's words; empty if it is not refused."""
        reasons = []
        if len(name) < self.shortest:
            reasons.append(
                f"'{parameter}' is too short ({len(name)}): at least {self.shortest} characters required: {name!r}"
            )
        if len(name) > self.longest:
            reasons.append(
                f"'{parameter}' is too long ({len(name)}): at most {self.longest} characters allowed: {name!r}"
            )
        if not re.search(self.pattern, name):
            reasons.append(f"'{parameter}' does not match expression '{self.pattern}': {name!r}")
        return [Failure(parameter, reason) for reason in reasons]


RESOURCE_GROUP: Final = NameRule(longest=90, pattern=r"^[-\w\._\(\)]*[-\w_\(\)]$")
VIRTUAL_NETWORK: Final = NameRule(shortest=2, longest=64, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9_]$")
SUBNET: Final = NameRule(longest=80, pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9_])?$")
IDENTITY: Final = NameRule(shortest=3, longest=128, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$")
ROLE_ASSIGNMENT: Final = NameRule(
    shortest=36, longest=36, pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
)
DEPLOYMENT: Final = NameRule(longest=64, pattern=r"^[-\w.()]+$")
FEATURE: Final = NameRule(longest=100, pattern=r"^[-\w.]+$")
PROMETHEUS_RULE_GROUP: Final = NameRule(longest=260, pattern=r"^[^:@/#{}%&+*<>?]+$")
"""Its pattern is that of Azure's REST API, 2023-03-01; its length is assumed, that of Azure's other alert rules."""
MANAGED_CLUSTER: Final = NameRule(longest=63, pattern=r"^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$")
AGENT_POOL: Final = NameRule(longest=12, pattern=r"^[a-z][a-z0-9]{0,11}$")
"""Linux pools; those of Windows end at six characters."""


def automatic_name(naming: AutoNaming, program_name: str, seed: bytes) -> str:
    """The name azure-native gives, the same for the same seed."""
    digits = hashlib.sha256(seed + program_name.encode()).hexdigest() if seed else secrets.token_hex(32)
    if naming == "copy":
        return program_name
    return str(uuid.UUID(hex=digits[:32])) if naming == "uuid" else f"{program_name}{digits[:8]}"


def path_parameters(path: str) -> list[str]:
    """The parameters of an ARM path, in order."""
    return re.findall(r"\{(\w+)\}", path)


def resource_id(path: str, values: Mapping[str, str]) -> str:
    """The ID that a path gives with its parameters' values."""
    filled = re.sub(r"\{(\w+)\}", lambda match: values[match.group(1)].strip("/"), path)
    return filled if filled.startswith("/") else f"/{filled}"


def parse_id(path: str, resource: str) -> dict[str, str] | None:
    """The parameters of a path that a resource ID holds; None when the ID is of another type."""
    pattern = re.sub(r"\{(\w+)\}", lambda m: f"(?P<{m.group(1)}>{'.+' if m.group(1) == 'scope' else '[^/]+'})", path)
    match = re.fullmatch(pattern, resource, re.IGNORECASE)
    return match.groupdict() if match else None


def last_part(resource: str) -> str:
    """The name at the end of a resource ID."""
    return resource.rpartition("/")[2]
