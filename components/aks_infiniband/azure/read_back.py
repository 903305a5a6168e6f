"""A node pool that Azure has, read back into the declaration of `machines`: its keys, and the request that a stack of
it would send to Azure. Properties beyond that are named, because an update by the stack would take them away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import pulumi
from pulumi import _types as pulumi_types
from pulumi_azure_native import containerservice
from pydantic.alias_generators import to_camel

from aks_infiniband.azure.agent_pool import REPLACED_BY, arguments_of
from aks_infiniband.azure.machines import OrdinaryPool, Sent
from aks_infiniband.azure.node_pool import (
    SPOT,
    InfinibandNodePoolArgs,
    OrdinaryNodePoolArgs,
    of_infiniband,
    of_ordinary,
)
from aks_infiniband.facts.catalog.machine import GPU_OPERATOR_OFF

MOVING: Final = ("orchestratorVersion", "powerState")
"""Properties that people change while a pool lives, by an upgrade or a stop. A program that sends them as they were
undoes that.
"""
_SHOWN: Final = (
    *("id", "name", "count", "eTag", "provisioningState", "status", "currentOrchestratorVersion", "nodeImageVersion"),
    *MOVING,
)
"""Properties that Azure shows of every pool (AKS REST API 2025-09-01, Agent Pools), and those that move."""
_AKSS_OWN: Final[Mapping[str, Any]] = {
    "kubeletDiskType": "OS",
    "scaleDownMode": "Delete",
    "scaleSetPriority": "Regular",
    "upgradeStrategy": "Rolling",
    "workloadRuntime": "OCIContainer",
    "powerState": {"code": "Running"},
    "securityProfile": {"sshAccess": "LocalUser"},
    "upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"},
}
"""Values that AKS shows by default; further, whatever is off or empty (GETs of pools of 2022 to 2026 in
tests/field_recordings/aks-bodies.yaml).
"""
_PATH: Final = ("agentPoolName", "resourceGroupName", "resourceName")
_WHY: Final = {
    "nodeLabels": f"{GPU_OPERATOR_OFF} keeps the GPU Operator off GPUs that it must not touch",
    "upgradeSettings": "an upgrade takes one machine away at a time, because a spare one of these sizes is seldom "
    "within quota",
}

NodePoolArguments = InfinibandNodePoolArgs | OrdinaryNodePoolArgs


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A property that a stack would request otherwise than Azure has it."""

    name: str
    """Azure's."""
    found: Any
    """None if Azure has none."""
    asked: Any

    @property
    def replaces(self) -> bool:
        """True if a change of it replaces the pool."""
        return self.name in REPLACED_BY

    def __str__(self) -> str:
        why = f": {_WHY[self.name]}" if self.name in _WHY else ""
        return f"{self.name} from {_shown(self.found)} to {_shown(self.asked)}{why}"


def flat(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a pool, with its name and ID, from Azure's answer to a GET."""
    return {**(answer.get("properties") or {}), "name": answer["name"], "id": answer["id"]}


def keys_of(agent_pool: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a stack file's pool, for a pool as Azure has it. Values that equal the default of a key are left out.

    agent_pool: as `flat` gives it.
    """
    names = pulumi_types.input_type_py_to_pulumi_names(containerservice.AgentPoolArgs)
    keys: dict[str, Any] = {
        "name": agent_pool["name"],
        "vmSize": agent_pool["vmSize"],
        "count": agent_pool.get("count") or 0,
    }
    spot = agent_pool.get("scaleSetPriority") == "Spot"
    if taints := [taint for taint in agent_pool.get("nodeTaints") or [] if not (spot and taint.startswith(f"{SPOT}="))]:
        keys["taints"] = taints
    if spot:
        keys["priority"] = "Spot"
    if agent_pool.get("enableAutoScaling"):
        keys["autoscale"] = {"minCount": agent_pool.get("minCount"), "maxCount": agent_pool.get("maxCount")}
    for name, field in OrdinaryPool.model_fields.items():
        for marker in field.metadata:
            if isinstance(marker, Sent) and not marker.moves:
                value = _read(marker, agent_pool.get(names[marker.argument]))
                if value != field.get_default(call_default_factory=True):
                    keys[field.alias or name] = value
    if labels := {key: value for key, value in keys.pop("labels", {}).items() if key not in (SPOT, GPU_OPERATOR_OFF)}:
        keys["labels"] = labels
    return keys


def _read(marker: Sent, value: Any) -> Any:
    if not value:
        return {} if marker.argument == "node_labels" else () if marker.argument == "availability_zones" else None
    return marker.read(value) if marker.read else value


def asked(args: NodePoolArguments) -> dict[str, Any]:
    """A stack's request to Azure, by Azure's names; without the count, which follows."""
    return {name: _plain(value) for name, value in _arguments(args).items() if value is not None}


def _arguments(args: NodePoolArguments) -> dict[str, Any]:
    if isinstance(args, InfinibandNodePoolArgs):
        arguments = {**arguments_of(args.pool, args, args.machines), **of_infiniband(args.pool, args.machines)}
    else:
        arguments = {**arguments_of(args.pool, args, args.pool), **of_ordinary(args.pool)}
    names = pulumi_types.input_type_py_to_pulumi_names(containerservice.AgentPoolArgs)
    return {names[name]: _worded(name, value) for name, value in arguments.items()}


def _worded(argument: str, value: Any) -> Any:
    """With the keys of a mapping that the table makes as Azure writes them; the SDK does so when it sends them."""
    made = [
        marker.argument
        for field in OrdinaryPool.model_fields.values()
        for marker in field.metadata
        if isinstance(marker, Sent) and marker.made
    ]
    return {to_camel(key): part for key, part in value.items()} if value and argument in made else value


def differences(agent_pool: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[Difference]:
    """The changes that an update would make. wanted: as `asked` gives it."""
    for name, value in wanted.items():
        if not _same(agent_pool.get(name), value):
            yield Difference(name=name, found=agent_pool.get(name), asked=value)


def beyond(agent_pool: Mapping[str, Any], args: NodePoolArguments) -> Iterator[str]:
    """The properties without a key in a stack file, with their values."""
    known = _arguments(args)
    for name, value in agent_pool.items():
        if name not in known and name not in _SHOWN and not _is_akss(value, _AKSS_OWN.get(name)):
            yield f"{name}: {_shown(value)}"


def left_alone(args: NodePoolArguments) -> list[str]:
    """The properties of a pool that stay as they are: no stack sends them, or they replace a pool and this stack does
    not send them.
    """
    words, wanted = _arguments(args), asked(args)
    spoken = {name for name in words if name not in REPLACED_BY}
    names = pulumi_types.input_type_py_to_pulumi_names(containerservice.AgentPoolArgs).values()
    return [name for name in names if name not in {*spoken, *wanted, *MOVING, *_PATH, "count"}]


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if pulumi_types.is_input_type(type(value)):
        return {name: _plain(part) for name, part in pulumi_types.input_type_to_dict(value).items() if part is not None}
    if isinstance(value, pulumi.Output):  # no caller gives one
        raise TypeError("an argument is not known yet")
    return value


def _same(value: Any, wanted: Any) -> bool:
    """As azure-native compares inputs: resource IDs without their case (provider/pkg/provider/diff.go)."""
    if isinstance(value, str) and isinstance(wanted, str) and wanted.startswith("/subscriptions/"):
        return value.casefold() == wanted.casefold()
    return bool(value == wanted)


def _is_akss(value: Any, own: Any) -> bool:
    """True if a value is AKS's default; own: the default if not off or empty."""
    if isinstance(value, Mapping):
        keys = own if isinstance(own, Mapping) else {}
        return all(_is_akss(part, keys.get(name)) for name, part in value.items())
    return not value or value == own


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_shown(part)}" for name, part in value.items()) + "}"
    return "nothing" if value is None else str(value)
