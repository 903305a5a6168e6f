"""Azure resources that a team describes for itself, in a file next to its Pulumi.yaml, as plain data.

A described type is checked against Azure's published model as every type is, needs its resource group, is kept, read,
changed and deleted. Azure's own refusals of it are unknown here.
"""

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from aks_infiniband.handwritten import HandwrittenError, first_lines, place, read
from aks_infiniband.handwritten.form import told
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.naming import NameRule
from rehearsal.azure.resources.groups import base_outputs, located, require_group

RESOURCES_FILE: Final = "rehearsal.azure.yaml"
"""Its name, next to Pulumi.yaml."""
RESOURCES_VARIABLE: Final = "AKS_INFINIBAND_REHEARSAL_RESOURCES"
"""Environment variable that names the file, for the simulated Azure."""
_EXAMPLE: Final = (
    "path: /subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/"
    "Microsoft.ContainerRegistry/registries/{registryName}"
)


class ResourcesFileError(ValueError):
    """A file of described resources with a mistake; the text names file, type, key, value and what may be."""


class _Described(BaseModel):
    """One type. path: of its ID; outputs: Azure's values in addition to the inputs; replacing: inputs whose change
    replaces.

    {name} in an output is the input of that name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)

    path: Annotated[
        str, Field(pattern=r"^/subscriptions/\{subscriptionId\}/resourceGroups/\{resourceGroupName\}/.+\}$")
    ]
    outputs: dict[str, Any] = {}
    replacing: tuple[str, ...] = ()
    location: bool = True


def described_kinds(file: Path) -> dict[str, Kind]:
    """The types that a file describes, by their token. Raises ResourcesFileError for any mistake in it."""
    try:
        document = read(file)
    except HandwrittenError as error:
        raise ResourcesFileError(f"{file}: {error}") from error
    if not isinstance(document, dict):
        raise ResourcesFileError(f"{file}: must be a mapping of types, such as azure-native:containerregistry:Registry")
    return {token: _kind(file, str(token), row) for token, row in document.items()}


def _kind(file: Path, token: str, parameters: Any) -> Kind:
    try:
        described = _Described.model_validate(parameters)
    except ValidationError as error:
        mistakes = "; ".join(f"{place(where) or 'the type'} {reason}" for where, reason in told(error))
        raise ResourcesFileError(first_lines(f"{file}: {token}: {mistakes}. An example is {_EXAMPLE}")) from error
    arguments, resource = _classes(file, token)
    _, provider, names = described.path.rpartition("/providers/")
    arm_type = "/".join(part for part in names.split("/") if "{" not in part)
    if not provider or not arm_type:
        raise ResourcesFileError(f"{file}: {token}: path is {described.path!r}; an example is {_EXAMPLE}")

    def refuse(cloud: Cloud, request: Request) -> None:
        if described.location:
            located(cloud, request, arm_type)
        else:
            require_group(cloud, request)

    def render(_cloud: Cloud, request: Request) -> dict[str, Any]:
        parameters = {**request.inputs, **request.path}
        shown = base_outputs(described.path, request, arm_type, kind.api_version)
        return {**shown, **_filled(described.outputs, parameters)}

    kind = Kind(
        pulumi_type=token,
        arguments=arguments,
        resource=resource,
        arm_type=arm_type,
        path=described.path,
        naming="random",
        name_rule=NameRule(longest=260, pattern=r"^[^/#?]+$"),
        force_new=frozenset(described.replacing),
        location=described.location,
        refuse_create=refuse,
        refuse_update=refuse,
        render=render,
    )
    return kind


def _classes(file: Path, token: str) -> tuple[type, type]:
    """azure-native's classes for the inputs and outputs of a type."""
    match = re.fullmatch(r"azure-native:(\w+):(\w+)", token)
    try:
        if not match:
            raise AttributeError(token)
        module = importlib.import_module(f"pulumi_azure_native.{match[1]}")
        return getattr(module, f"{match[2]}Args"), getattr(module, match[2])
    except (ImportError, AttributeError) as error:
        raise ResourcesFileError(
            f"{file}: {token} is not a resource of pulumi-azure-native; a type is azure-native:module:Resource, as "
            "azure-native:containerregistry:Registry"
        ) from error


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    """A described output, with the inputs that it names."""
    if isinstance(value, dict):
        return {key: _filled(item, given) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, given) for item in value]
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: str(given.get(match[1], match[0])), value)
    return value
