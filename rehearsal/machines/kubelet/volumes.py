"""A pod's volumes as folders: ConfigMaps, Secrets, projected sources, the downward API, scratch space."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from rehearsal.machines.hardware import beneath
from rehearsal.machines.kubelet.environment import (
    InvalidReferenceError,
    MissingReferenceError,
    References,
    field_value,
    resource_value,
)

Document = Mapping[str, Any]
TokenSource = Callable[[Document], Awaitable[str]]
"""Requests a service account token, from a serviceAccountToken source."""


async def write_volume(volume: Document, folder: Path, host: Path, references: References, token: TokenSource) -> Path:
    """Make a volume's contents; returns the folder or file to be mounted.

    folder: of the pod's volumes. host: the machine's own file system, for hostPath. Raises MissingReferenceError while
    something it refers to is not there, InvalidReferenceError for a kind of volume that a simulated machine does not
    have.
    """
    target = folder / str(volume["name"])
    if (source := volume.get("hostPath")) is not None:
        return _host_path(source, host)
    beneath.write_files(target, await _files(volume, references, token))
    return target


def scratch(pod: Document, volumes: Mapping[str, Path]) -> list[Path]:
    """The volumes of a pod that its containers may write; those of the machine are in the machine's folder."""
    return [volumes[volume["name"]] for volume in pod["spec"].get("volumes") or [] if "emptyDir" in volume]


async def _files(volume: Document, references: References, token: TokenSource) -> dict[str, str]:
    """The files of a volume, by path."""
    if "emptyDir" in volume:
        return {}
    if (source := volume.get("projected")) is not None:
        files: dict[str, str] = {}
        for part in source.get("sources") or []:
            files |= await _projected(part, references, token)
        return files
    for kind in ("configMap", "secret", "downwardAPI"):
        if (source := volume.get(kind)) is not None:
            return await _projected({kind: source}, references, token)
    kinds = sorted(set(volume) - {"name"})
    raise InvalidReferenceError(
        f"volume {volume['name']}: a simulated machine does not have volumes of kind {', '.join(kinds)}"
    )


async def _projected(source: Document, references: References, token: TokenSource) -> dict[str, str]:
    if (claim := source.get("serviceAccountToken")) is not None:
        return {claim["path"]: await token(claim)}
    if (config_map := source.get("configMap")) is not None:
        return _keys("configmap", config_map["name"], config_map, references.config_map)
    if (secret := source.get("secret")) is not None:
        return _keys("secret", secret.get("secretName") or secret["name"], secret, references.secret)
    if (downward := source.get("downwardAPI")) is not None:
        return {item["path"]: _downward(item, references) for item in downward.get("items") or []}
    raise InvalidReferenceError(f"projected source {sorted(source)} is not known")


def _keys(kind: str, name: str, source: Document, lookup: Callable[[str], Mapping[str, str] | None]) -> dict[str, str]:
    data = lookup(name)
    if data is None:
        if source.get("optional"):
            return {}
        raise MissingReferenceError(f'{kind} "{name}" not found')
    items: Iterable[Document] | None = source.get("items")
    if items is None:
        return dict(data)
    absent = [item["key"] for item in items if item["key"] not in data]
    if absent and not source.get("optional"):
        raise MissingReferenceError(f"{kind} references non-existent config key: {', '.join(absent)}")
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def _downward(item: Document, references: References) -> str:
    if (reference := item.get("fieldRef")) is not None:
        return field_value(reference["fieldPath"], references)
    reference = item["resourceFieldRef"]
    containers = {container["name"]: container for container in references.pod["spec"]["containers"]}
    return resource_value(reference, containers[reference["containerName"]], references)


def _host_path(source: Document, host: Path) -> Path:
    """A file or folder of the machine, made if it is not there. Another pod may have put a link in its place."""
    path = str(source["path"]).strip("/")
    try:
        if source.get("type") in {"File", "FileOrCreate"}:
            beneath.make_file(host, path)
        else:
            beneath.make_folder(host, path)
    except OSError as error:
        raise InvalidReferenceError(
            f"hostPath {source['path']}: {error.strerror} (links on a simulated machine are not followed)"
        ) from error
    return host / path
