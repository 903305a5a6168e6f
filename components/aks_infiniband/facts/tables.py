"""Tables of facts, in YAML next to the modules that read them."""

from importlib import resources
from typing import Any

import yaml


def table(package: str, name: str) -> Any:
    """The content of a YAML file of a package of ours."""
    text = (resources.files(package) / name).read_text(encoding="utf-8")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  safe, and fast
