"""The texts of the schema: of every key of inputs, and below each output in the class that declares it.

Pulumi's own reader looks at the class alone, in which an inherited output is missing.
"""

import inspect
from collections.abc import Iterable
from typing import Any

import pulumi

from aks_infiniband.provider.described import KEYS_OF, camel, texts_of


def describe(schema: dict[str, Any], components: Iterable[type[pulumi.ComponentResource]]) -> dict[str, Any]:
    """The schema with a text for each input and each output of these components, and for each key of their parts."""
    for token, about in schema["types"].items():
        _tell(about.get("properties", {}), _of_inputs(token.rpartition(":")[2]))
    resources = {token.rpartition(":")[2]: about for token, about in schema["resources"].items()}
    for component in components:
        about, inputs = resources[component.__name__], inspect.get_annotations(component.__init__)["args"]
        _tell(about["inputProperties"], _of_inputs(inputs.__name__) or camel(texts_of(inputs)))
        _tell(about["properties"], camel(texts_of(component)))
    return schema


def _of_inputs(name: str) -> dict[str, str]:
    return camel({key: about.text for key, about in KEYS_OF.get(name, {}).items()})


def _tell(properties: dict[str, Any], texts: dict[str, str]) -> None:
    for name, about in properties.items():
        if name in texts:
            about["description"] = texts[name]
