"""The program that runs in the pods: its files as the data of a ConfigMap, and as a package in a pod's volume."""

from collections.abc import Iterable, Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final

PACKAGE: Final = "payload"
"""Name under which the program is imported inside the pods."""
HOME: Final = f"/opt/aks-infiniband/{PACKAGE}"
"""A pod's mount path of the program. Its last part is the name of the package."""
PAYLOAD_MOUNT: Final = {"name": "payload", "mountPath": HOME, "readOnly": True}
PYTHON_ENVIRONMENT: Final = (
    {"name": "PYTHONPATH", "value": f"{HOME}/.."},
    {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
    {"name": "PYTHONUNBUFFERED", "value": "1"},
)
"""Variables with which Python finds the program."""
EXPECTATIONS: Final = "expectations.json"
"""The file in which the program finds its pool's promise."""
EXPECTATIONS_ANNOTATION: Final = f"aks-infiniband/{EXPECTATIONS}"
"""Annotation of the pods with that file. The file is a pool's own, while all pools share the program."""
LIGHT_CHECK: Final = "light_check"
"""The folder of the program that the validation does not need."""


def payload_files(*, light_check: bool = False) -> dict[str, str]:
    """Path to text of every file of the program, in the order of the paths.

    light_check: whether the scheduled check's own folder is among them.
    """
    files = dict(_files(resources.files(f"aks_infiniband.validation.{PACKAGE}")))
    return {path: files[path] for path in sorted(files) if light_check or not path.startswith(f"{LIGHT_CHECK}/")}


def _files(folder: Traversable, above: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{above}{entry.name}/")
        elif entry.name.endswith((".json", ".py", ".ptx", ".sh")):
            yield f"{above}{entry.name}", entry.read_text(encoding="utf-8")


def key_of(path: str) -> str:
    """The key under which a ConfigMap has a file: a key cannot have slashes, so it has dots in their place."""
    return path.replace("/", ".")


def program(*, light_check: bool = False) -> dict[str, str]:
    """The program's files as the data of a ConfigMap. light_check: as payload_files has it."""
    return {key_of(path): text for path, text in payload_files(light_check=light_check).items()}


def program_volume(config_map: str, paths: Iterable[str]) -> dict[str, Any]:
    """The volume with these files of a ConfigMap, each in its folder again."""
    items = [{"key": key_of(path), "path": path} for path in paths]
    return {"name": "payload", "configMap": {"name": config_map, "items": items}}
