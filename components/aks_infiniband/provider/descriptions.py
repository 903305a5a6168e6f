"""The texts of the schema: below each property in the class that declares it, which may be a base of the one served.

Pulumi's own reader looks at the class alone, where an inherited property has none.
"""

import ast
import inspect
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import pulumi
from pulumi.provider.experimental.util import camel_case

from aks_infiniband.provider.described import FIELDS_OF, texts_of


def describe(schema: dict[str, Any], components: Iterable[type[pulumi.ComponentResource]]) -> dict[str, Any]:
    """The schema with a text for each input and each output of these components, and for each key of a section."""
    for token, about in schema["types"].items():
        if (fields := FIELDS_OF.get(token.rpartition(":")[2])) is not None:
            for key, text in texts_of(fields).items():
                about["properties"][key]["description"] = text
    resources = {token.rpartition(":")[2]: about for token, about in schema["resources"].items()}
    for component in components:
        about = resources[component.__name__]
        for part, kind in (("inputProperties", _inputs(component)), ("properties", component)):
            told = _texts(kind)
            for name, property_ in about[part].items():
                if name in told:
                    property_["description"] = told[name]
    return schema


def _inputs(component: type[pulumi.ComponentResource]) -> type:
    kind: type = inspect.get_annotations(component.__init__)["args"]
    return kind


def _texts(kind: type) -> dict[str, str]:
    """By its name in the schema, the text below each attribute of a class and of its bases."""
    declared = _classes(kind.__module__)[kind.__name__]
    # A TypedDict does not keep its bases; its source tells them.
    named = [vars(sys.modules[kind.__module__])[base.id] for base in declared.bases if isinstance(base, ast.Name)]
    bases = [base for base in (*kind.__bases__, *named) if base.__module__.startswith(__name__.partition(".")[0])]
    found = {name: text for base in bases for name, text in _texts(base).items()}
    for attribute, below in zip(declared.body, declared.body[1:], strict=False):
        match attribute, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[camel_case(name)] = inspect.cleandoc(text)
    return found


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
