"""The components that other languages get, with their inputs, for docs/languages.md."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.provider.host import Provider

_BEGIN: Final = "<!-- components: make docs -->\n"
_END: Final = "<!-- end of components -->"


def with_components(page: str) -> str:
    """The page with its table written again."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    rows = "\n".join(_rows(json.loads(Provider().schema or "")["resources"]))
    return f"{head}{_BEGIN}| component | it needs | and it takes |\n|---|---|---|\n{rows}\n{_END}{tail}"


def _rows(resources: Mapping[str, Any]) -> Iterator[str]:
    for token, about in resources.items():
        inputs: Mapping[str, Any] = about["inputProperties"]
        required = about["requiredInputs"]
        needed = ", ".join(_input(name, inputs[name]) for name in inputs if name in required)
        taken = ", ".join(_input(name, inputs[name]) for name in inputs if name not in required)
        yield f"| `{token.rpartition(':')[2]}` | {needed} | {taken} |"


def _input(name: str, about: Mapping[str, Any]) -> str:
    return f"`{name}`" if about.get("plain") else f"*`{name}`*"
