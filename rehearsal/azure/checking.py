"""azure-native's Check: fills in names and locations, and refuses what can be refused without a call to Azure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.kinds import Kind
from rehearsal.azure.models import Failure, check_arguments
from rehearsal.azure.wire import UNKNOWN, Properties, has_unknown

CREATE_BEFORE_DELETE: Final = "__createBeforeDelete"
"""azure-native's own input: set if the name is random, so that a replacement can exist at the same time as the old
resource.
"""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A resource of the program, whose inputs are checked.

    program_name: its name in the program; olds: the inputs of the last deployment; seed: for random names; location:
    the configured one.
    """

    kind: Kind
    program_name: str
    olds: Mapping[str, Any]
    news: Mapping[str, Any]
    seed: bytes
    location: str | None


def check(cloud: Cloud, checked: Checked) -> tuple[Properties, list[Failure]]:
    """The inputs with azure-native's defaults, and what is wrong with them."""
    kind, olds = checked.kind, checked.olds
    inputs = dict(checked.news)
    _name(checked, inputs)
    if kind.location and "location" not in inputs:
        default = _default_location(cloud, olds, inputs, checked.location)
        if default is not None:
            inputs["location"] = default
    failures = check_arguments(kind.arguments, inputs)
    if not failures:
        failures = kind.check(inputs)
    if kind.location and "location" not in inputs:
        reason = (
            "missing required property 'location'. Either set it explicitly or configure it with "
            "'pulumi config set azure-native:location <value>'."
        )
        failures.append(Failure("location", reason))
    name = inputs.get(kind.name_parameter)
    if isinstance(name, str):
        failures += kind.name_rule.failures(kind.name_parameter, name)
    inputs.setdefault("azureApiVersion", kind.api_version)
    return inputs, failures


def _name(checked: Checked, inputs: Properties) -> None:
    kind, olds = checked.kind, checked.olds
    key = kind.name_parameter
    if key in inputs:
        return
    if key in olds:
        inputs[key] = olds[key]
        if CREATE_BEFORE_DELETE in olds:
            inputs[CREATE_BEFORE_DELETE] = olds[CREATE_BEFORE_DELETE]
        return
    inputs[key] = naming.automatic_name(kind.naming, checked.program_name, checked.seed)
    if kind.naming != "copy":
        inputs[CREATE_BEFORE_DELETE] = True


def _default_location(cloud: Cloud, olds: Mapping[str, Any], inputs: Mapping[str, Any], configured: str | None) -> Any:
    """The location of the last deployment, the configured one, or the group's, as azure-native looks for it."""
    if "location" in olds:
        return olds["location"]
    if configured:
        return configured
    group = inputs.get("resourceGroupName")
    if group is None:
        return None
    if has_unknown(group):
        return UNKNOWN
    record = cloud.store.get(f"/subscriptions/{cloud.subscription.subscription_id}/resourceGroups/{group}")
    return record.outputs["location"] if record else None
