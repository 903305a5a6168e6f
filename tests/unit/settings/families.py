"""Every key of the settings with every kind of value that cannot be right, made from the models.

A kind is a family of values. The published schema says which values a key's own type takes, and those are left out,
so a new key brings its cases along.
"""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from aks_infiniband.facts.pool import agent_pool_label
from aks_infiniband.handwritten.section import Follows
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings
from jsonschema import Draft7Validator
from pydantic import BaseModel

from pages.schema import stack_file_schema
from tests.unit.components.stack_files import changed, cluster, existing, pool

Path = tuple[str | int, ...]
LONG: Final = 1_000_000
SECRET: Final = "s3cret"
TAKEN: Final = "taken"
"""A node pool that an existing cluster's stack has taken over."""
FIGURE: Final = "rdma-write-bandwidth"
OWN_SIZE: Final = "Standard_ND200isr_B300_v7"

FAMILIES: Final[Mapping[str, list[Any]]] = {
    "wrong type": [True, 7, "text", ["text"], {"text": "text"}],
    "wrong range": [-1, 0, 2**31, 10**30, 1e300, float("inf")],
    "wrong alphabet": ["", "a\nb", "a\0b", "gerät", "$(id)", "--flag/../x", "\ud800"],
    "too long": ["x" * LONG, ["x" * LONG], {"x" * LONG: "x"}],
    "null": [None, [None]],
    "nested": [[[{}]], json.loads("[" * 500 + "]" * 500)],
    "secret": [{"secure": f"v1:{SECRET}"}],
    "JSON text": ["[1, 2]", '{"a": "b"}', "null", "[" * 100_000],
}


@dataclass(frozen=True)
class Key:
    """One key of the settings. path: its place in a stack file; optional: True if null leaves it out."""

    path: Path
    optional: bool

    @property
    def in_existing(self) -> bool:
        """True if it stands in a stack file for a cluster that is there."""
        return self.path[0] == "existingCluster" or self.path[-1] == "nodeSelector"

    @property
    def section(self) -> str:
        """The engine's key that it lies below."""
        first = self.path[0]
        return "azure-native:location" if first == "location" else f"aks-infiniband:{first}"

    @property
    def name(self) -> str:
        """As a person calls it."""
        return ".".join(map(str, self.path)).replace(".0", "[]")

    @property
    def written(self) -> str:
        """As an error names it."""
        return self.section + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.path[1:])

    def holding(self, value: Any) -> Any:
        """A stack file that is right except for this key."""
        stack = home(self.in_existing)
        rest = self.path[1:]
        if not rest:
            return {**stack, self.section: value}
        place = stack.setdefault(self.section, {})
        for part in rest[:-1]:
            place = place[part] if isinstance(part, int) else place.setdefault(part, {})
        place[rest[-1]] = value
        return stack


def home(in_existing: bool) -> Any:
    """A right stack file with every section."""
    size = {
        "vcpus": 200,
        "memoryGib": 3000,
        "series": "ND_B300_v7",
        "infiniband": {"hcaCount": 8, "generation": "XDR", "adapter": "ConnectX-8"},
        "accelerator": {"vendor": "nvidia", "model": "B300", "count": 8, "memoryGb": 288},
    }
    thresholds = {FIGURE: {"fail": 1}}
    sections: dict[str, Any] = {
        "sizes": {OWN_SIZE: size},
        "validation": {"thresholds": thresholds},
        "observability": {"prometheus": "azure"},
        "schedulerTopology": {"scheduler": "kueue"},
    }
    if in_existing:
        found = existing(pool(nodeSelector=agent_pool_label("a")), pool(name=TAKEN), **sections)
        aks = {"resourceGroup": "g", "name": "c", "nodePools": {TAKEN: {}}}
        section = {**found["aks-infiniband:existingCluster"], "aks": aks}
        return copy.deepcopy({**found, "aks-infiniband:existingCluster": section})
    autoscaled = pool(autoscale={"minCount": 2, "maxCount": 4})
    return copy.deepcopy(changed(cluster=cluster(), pools=[autoscaled], **sections))


def keys(model: type[BaseModel] = Settings, path: Path = ()) -> Iterator[Key]:
    """Every key of the settings, sections too."""
    between: dict[str, Path] = {"pools": (0,), "sizes": (OWN_SIZE,), "thresholds": (FIGURE,), "nodePools": (TAKEN,)}
    for name, field in model.model_fields.items():
        key = field.alias or name
        none = field.default is None or isinstance(field.default_factory, Follows)
        yield Key((*path, key), optional=none and not field.is_required())
        inner = model_in(field.annotation)
        if inner is not None:
            yield from keys(inner, (*path, key, *between.get(key, ())))


@cache
def _validator() -> Draft7Validator:
    return Draft7Validator(stack_file_schema())


def taken(key: Key, value: Any) -> bool:
    """True if the key's own type takes the value, as the published schema has it."""
    return bool(_validator().is_valid({"config": key.holding(value)}))
