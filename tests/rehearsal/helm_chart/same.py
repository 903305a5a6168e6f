"""The objects of the chart, and those that the components declare for the same pools, in one form."""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.options import ValidationOptions

from chart.declaring import Asked, declared
from chart.pools import pool_of

_HASH: Final = re.compile(r"-validate-[0-9a-f]{8}$")
Documents = dict[tuple[str, str, str], Any]


def rendered(helm: Path, chart: Path, values: Mapping[str, Any], folder: Path) -> Documents:
    """The objects that `helm template` makes of the chart."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(dict(values)))
    flags = ("--values", str(file), "--namespace", SYSTEM_NAMESPACE)
    done = subprocess.run([helm, "template", "checks", chart, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return by_name(document for document in yaml.safe_load_all(done.stdout) if document)


def of_components(values: Mapping[str, Any]) -> Documents:
    """The objects that the components declare."""
    checks = values.get("validation") or {}
    registry = values.get("registry") or {}
    images = Registry(images=registry.get("images"), pull_secret=registry.get("pullSecret"))
    given = {key: checks[key] for key in ("mode", "image") if key in checks}
    light, watched = values.get("lightCheck"), values.get("observability")
    asked = Asked(
        validation=ValidationOptions(**given),
        registry=images,
        **({"schedule": light["schedule"]} if light else {}),
        **({"prometheus": watched["prometheus"], "labels": watched.get("labels") or {}} if watched else {}),
    )
    pools = [pool_of(pool) for pool in values["pools"]]
    parts = {"validation": given.get("mode") != "off", "lightCheck": light, "observability": watched}
    return by_name(
        document
        for part, wanted in parts.items()
        if wanted
        for document in declared(part, pools, asked)  # type: ignore[arg-type]
    )


def by_name(documents: Iterable[Any]) -> Documents:
    """Each in the form to be compared."""
    found: Documents = {}
    for document in documents:
        metadata = document["metadata"]
        metadata["name"] = _HASH.sub("-validate", metadata["name"])
        key = document["kind"], metadata["name"], metadata.get("namespace", "")
        assert key not in found, f"two documents are {key}"
        found[key] = _plain(document)
    return found


def _plain(node: Any) -> Any:
    """Without empty lists, which an API server drops, with texts of JSON read, and labels in one order."""
    if isinstance(node, list) and all(
        isinstance(item, dict) and {*item} == {"key", "operator", "values"} for item in node
    ):
        return sorted(node, key=lambda item: str(item["key"]))
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items() if value not in ([], None)}
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if isinstance(node, str) and node.startswith("{"):
        try:
            return json.loads(node)
        except ValueError:
            return node
    return int(node) if isinstance(node, float) and node.is_integer() else node
