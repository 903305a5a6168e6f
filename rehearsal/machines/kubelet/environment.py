"""Makes a container's environment from its spec: literal values, fields, resources, keys of ConfigMaps and Secrets."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from lightkube.utils.quantity import parse_quantity

Document = Mapping[str, Any]


class MissingReferenceError(LookupError):
    """Something that a container's spec refers to is not there; a kubelet waits for it."""


class InvalidReferenceError(ValueError):
    """A reference that can never be resolved."""


@dataclass(frozen=True, kw_only=True)
class References:
    """The objects to which a pod's spec may refer."""

    config_map: Callable[[str], Mapping[str, str] | None]
    """Data of a ConfigMap of the pod's namespace, or None."""
    secret: Callable[[str], Mapping[str, str] | None]
    """Data of a Secret of the pod's namespace, decoded, or None."""
    pod: Document
    allocatable: Mapping[str, str]
    """The node's; a limit that a container does not have is the node's."""
    pod_ip: str
    host_ip: str
    kernel: str
    """Release of the machine's kernel."""


def container_environment(container: Document, references: References) -> dict[str, str]:
    """The variables of a container, in the order in which a kubelet resolves them.

    Raises MissingReferenceError, InvalidReferenceError.
    """
    variables: dict[str, str] = {}
    for source in container.get("envFrom") or []:
        prefix = source.get("prefix") or ""
        variables |= {f"{prefix}{key}": value for key, value in _all_keys(source, references).items()}
    for entry in container.get("env") or []:
        value = _value(entry, container, references, variables)
        if value is not None:
            variables[entry["name"]] = value
    return variables


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Replace $(NAME) in a command, argument or value; $$ stands for $, an unknown name for itself."""

    def replace(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return variables.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([^)]+)\)", replace, text)


def field_value(path: str, references: References) -> str:
    """The value of a field of the downward API. Raises InvalidReferenceError for one that there is not."""
    metadata = references.pod["metadata"]
    indexed = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    if indexed:
        return str((metadata.get(indexed[1]) or {}).get(indexed[2], ""))
    if path in {"metadata.labels", "metadata.annotations"}:
        entries = metadata.get(path.removeprefix("metadata.")) or {}
        return "\n".join(f'{key}="{value}"' for key, value in sorted(entries.items()))
    values = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": references.pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": references.pod["spec"].get("serviceAccountName", ""),
        "status.hostIP": references.host_ip,
        "status.hostIPs": references.host_ip,
        "status.podIP": references.pod_ip,
        "status.podIPs": references.pod_ip,
    }
    if path not in values:
        raise InvalidReferenceError(f"the field {path} does not exist; {', '.join(sorted(values))} are known")
    return str(values[path])


def resource_value(reference: Document, container: Document, references: References) -> str:
    """The value of a resourceFieldRef: requests or limits of a container, rounded up to its divisor."""
    kind, _, name = reference["resource"].partition(".")
    if kind not in {"limits", "requests"}:
        raise InvalidReferenceError(f"resourceFieldRef {reference['resource']}: limits.* and requests.* are known")
    resources = (container.get("resources") or {}).get(kind) or {}
    amount = resources.get(name, references.allocatable.get(name, "0") if kind == "limits" else "0")
    divisor = _quantity(reference.get("divisor") or "0") or Decimal(1)
    return str((_quantity(amount) / divisor).to_integral_value(rounding=ROUND_CEILING))


def _quantity(text: str) -> Decimal:
    return parse_quantity(str(text)) or Decimal(0)


def _value(entry: Document, container: Document, references: References, variables: Mapping[str, str]) -> str | None:
    """The value of one entry of env; None for an optional one that is not there."""
    source = entry.get("valueFrom")
    if source is None:
        return expanded(entry.get("value") or "", variables)
    if (reference := source.get("fieldRef")) is not None:
        return field_value(reference["fieldPath"], references)
    if (reference := source.get("resourceFieldRef")) is not None:
        return resource_value(reference, _named(container, reference.get("containerName"), references), references)
    for kind, lookup in (("configMap", references.config_map), ("secret", references.secret)):
        if (reference := source.get(f"{kind}KeyRef")) is not None:
            return _key(kind, reference, lookup)
    raise InvalidReferenceError(f"env {entry['name']}: valueFrom {sorted(source)} is not known")


def _named(container: Document, name: str | None, references: References) -> Document:
    if not name:
        return container
    spec = references.pod["spec"]
    everyone: Iterable[Document] = [*spec["containers"], *(spec.get("initContainers") or [])]
    return next((other for other in everyone if other["name"] == name), container)


def _key(kind: str, reference: Document, lookup: Callable[[str], Mapping[str, str] | None]) -> str | None:
    data = lookup(reference["name"])
    if data is not None and reference["key"] in data:
        return data[reference["key"]]
    if reference.get("optional"):
        return None
    if data is None:
        raise MissingReferenceError(f'{kind.lower()} "{reference["name"]}" not found')
    raise MissingReferenceError(f"couldn't find key {reference['key']} in {kind} {reference['name']}")


def _all_keys(source: Document, references: References) -> Mapping[str, str]:
    for kind, lookup in (("configMap", references.config_map), ("secret", references.secret)):
        reference = source.get(f"{kind}Ref")
        if reference is None:
            continue
        data = lookup(reference["name"])
        if data is None and not reference.get("optional"):
            raise MissingReferenceError(f'{kind.lower()} "{reference["name"]}" not found')
        return data or {}
    return {}
