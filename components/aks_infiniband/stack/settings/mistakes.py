"""The mistakes in a stack file, in words that its author can act on."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import pulumi
from pydantic import BaseModel, ValidationError

from aks_infiniband.handwritten import first_lines, shortened, word
from aks_infiniband.handwritten.form import allowed, did_you_mean
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.terminal import page, printable

Path = tuple[str | int, ...]
"""The place of a value below our namespace; azure-native:location is ("location",)."""
NAMESPACE: Final = "aks-infiniband"
LOCATION: Final = "azure-native:location"

_MISSING: Final[dict[Path, str]] = {
    ("pools",): "it must list at least one pool: name, vmSize and count",
    ("cluster", "kubernetesVersion"): 'it must be given and quoted, such as kubernetesVersion: "1.35"',
}

_NO_INTERCONNECT_GROUP: Final = (
    "is not a setting: no property of an AKS node pool names an interconnect group (API 2025-09-01, and none known is "
    "newer). If Azure requires one, have the pool made as your contact at Microsoft says, and give the cluster as "
    "existingCluster (docs/gb300.md)"
)
_NO_MANAGED_DRANET: Final = (
    "is not a setting: AKS's managed DRANET (preview) is not in the version of Azure's API that this program sends "
    "(2025-09-01), and would own the driver that mode dra and the Network Operator own. Leave the key out. A pool that "
    f"has it already is measured as it is by aks-infiniband validate, without a stack ({page('dra')})"
)
_NO_SETTINGS: Final[dict[tuple[str, ...], str]] = {
    ("registryCredentials",): ("is not a setting; give it with `pulumi config set --secret`, so that it is secret"),
    ("validation", "allReduce"): (
        "is no longer a setting; all-reduce is measured through NCCL alone: remove the key, and to see what PyTorch "
        f"makes of the fabric run the sample workload ({page('workloads')})"
    ),
    ("pools", "interconnectGroup"): _NO_INTERCONNECT_GROUP,
    ("pools", "interconnectGroupId"): _NO_INTERCONNECT_GROUP,
    ("pools", "dranet"): _NO_MANAGED_DRANET,
    ("networkOperator", "dranet"): _NO_MANAGED_DRANET,
}
"""Keys that a user may expect, or that an earlier release had, and what to do instead; without places in lists."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """One thing that is wrong in a stack file."""

    key: str
    """Path of the value, such as aks-infiniband:pools[0].vmSize."""
    reason: str
    """The value that was found and what is allowed."""

    def __str__(self) -> str:
        return f"{self.key} {self.reason}"


class SettingsError(pulumi.RunError):
    """The stack's configuration holds mistakes; the text lists them, as far as 2 kB go."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = "\n".join(f"  - {mistake}" for mistake in mistakes)
        text = f"the stack's configuration holds {count}, and nothing was created:\n{lines}"
        super().__init__(first_lines(printable(text)))


def key_of(path: Path) -> str:
    """A path as `pulumi config --path` takes it."""
    if path == ("location",):
        return LOCATION
    first, *rest = path
    return f"{NAMESPACE}:{word(first)}" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{word(part)}" for part in rest
    )


def wrong(path: Path, value: Any, reason: str) -> Mistake:
    """A mistake at a path. value: the one in the stack file; None if it is missing or does not help here."""
    return Mistake(key=key_of(path), reason=reason if value is None else f"is {shortened(value)}; {reason}")


def in_words(error: ValidationError) -> Iterator[Mistake]:
    """Everything that is not well-formed in itself."""
    for detail in error.errors(include_url=False):
        if detail["type"] == "too_short" and detail["input"]:
            continue  # pydantic counts no items that are wrong themselves, and those are reported
        where = tuple(part for part in detail["loc"] if part != "[key]")
        if detail["type"] == "extra_forbidden":
            yield _unknown(where, _model_at(where[:-1]))
        elif detail["type"] == "missing":
            yield Mistake(key=key_of(where), reason=f"is missing; {_MISSING.get(where, 'it must be given')}")
        else:
            yield Mistake(key=key_of(where), reason=f"is {shortened(detail['input'])}; {allowed(detail)}")


def _unknown(path: Path, model: type[BaseModel]) -> Mistake:
    instead = _NO_SETTINGS.get(tuple(part for part in path if isinstance(part, str)))
    if instead is not None:
        return Mistake(key=key_of(path), reason=instead)
    keys = [field.alias or name for name, field in model.model_fields.items() if name != "location"]
    hint = did_you_mean(str(path[-1]), keys)
    return Mistake(key=key_of(path), reason=f"is not known; {hint}known here: {', '.join(sorted(keys))}")


def _model_at(path: Path) -> type[BaseModel]:
    """The model that describes what lies at a path."""
    model: type[BaseModel] = Settings
    for part in path:
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        if part in fields:
            model = model_in(fields[str(part)].annotation) or model
    return model


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation: the annotation itself, a member of its union, or the type of its items."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in {tuple, dict, Union, UnionType, Annotated}:
        return next((model for part in get_args(annotation) if (model := model_in(part))), None)
    return None
