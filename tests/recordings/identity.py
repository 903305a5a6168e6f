"""The parts of a declared resource that cannot change without replacing the resource."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from declared.recording import HASH, label
from rehearsal.azure.resources import KINDS

_OF_EVERY_OBJECT: Final = ("apiVersion", "kind", "metadata.name", "metadata.namespace")
_SELECTED: Final = (*_OF_EVERY_OBJECT, "spec.selector")
_BOUND: Final = (*_OF_EVERY_OBJECT, "roleRef")
_KUBERNETES: Final[dict[str, tuple[str, ...]]] = {
    "kubernetes:apps/v1:DaemonSet": _SELECTED,
    "kubernetes:apps/v1:Deployment": _SELECTED,
    "kubernetes:apps/v1:StatefulSet": (*_SELECTED, "spec.serviceName", "spec.volumeClaimTemplates"),
    "kubernetes:batch/v1:Job": (*_SELECTED, "spec.completions", "spec.parallelism", "spec.template"),
    "kubernetes:core/v1:PersistentVolumeClaim": (*_OF_EVERY_OBJECT, "spec"),
    "kubernetes:core/v1:Secret": (*_OF_EVERY_OBJECT, "type"),
    "kubernetes:core/v1:Service": (*_OF_EVERY_OBJECT, "spec.clusterIP"),
    "kubernetes:helm.sh/v3:Release": ("name", "namespace"),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": _BOUND,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": _BOUND,
    "pulumi:providers:kubernetes": ("clusterIdentifier",),
}
"""Inputs for whose change pulumi-kubernetes 4.27.0 replaces the resource (provider/pkg/provider: diff.go,
helm_release.go; provider.go, DiffConfig, for the provider itself, with which goes all that is in the cluster). The
table also has the fields that the API server refuses to change: kind, and a DaemonSet's selector. A ConfigMap's data is
not among them: every provider here has enableConfigMapMutable.
"""

_NAMED: Final = re.compile(r"`(\S+::\S+)`")


def identities(recording: Mapping[str, Any]) -> list[dict[str, Any]]:
    """URN and the inputs whose change replaces the resource, for every resource of a recording (recording.document).

    Not among them are Jobs named by a hash of their content: every change makes another one, by design.
    """
    return [
        {"urn": resource["urn"], **_identity(resource)}
        for resource in recording["resources"]
        if not str(_at(resource, "inputs.metadata.name") or "").endswith(HASH)
    ]


def lost(released: Sequence[Mapping[str, Any]], declared: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The fate of released resources that a program replaces, renames or removes: label to a sentence.

    released, declared: identities, before and now.
    """
    today = {identity["urn"]: identity for identity in declared}
    found = {}
    for before in released:
        now = today.get(before["urn"])
        if now is None:
            found[label(before["urn"])] = "is gone, or has another type, name or parent"
        elif changed := sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path)):
            said = ", ".join(f"{path} from {before.get(path)!r} to {now.get(path)!r}" for path in changed)
            found[label(before["urn"])] = f"is replaced: {said}"
    return found


def unnamed(resources: Iterable[str], changelog: str) -> set[str]:
    """The resources, by type and name, that a changelog does not name in its section on changes since the last release.

    `*` in a name there stands for any text: what users' own pools and programs give to it.

    Raises ValueError without such a section.
    """
    _, heading, rest = changelog.partition("\n## [Unreleased]\n")
    if not heading:
        raise ValueError("the changelog has no section '## [Unreleased]'")
    names = _NAMED.findall(rest.partition("\n## ")[0])
    return {each for each in resources if not any(fnmatchcase(each, name) for name in names)}


def _identity(resource: Mapping[str, Any]) -> dict[str, Any]:
    inputs = resource.get("inputs", {})
    type_ = label(resource["urn"]).rpartition("::")[0]
    paths = {*_replacing(type_), *resource.get("replaceOnChanges", [])}
    found = {path: value for path in sorted(paths) if (value := _at(inputs, path)) is not None}
    # Another provider means another resource.
    return {**({"provider": resource["provider"]} if "provider" in resource else {}), **found}


def _replacing(type_: str) -> frozenset[str]:
    if type_ in KINDS:
        return KINDS[type_].replacing()
    return frozenset(_KUBERNETES.get(type_, _OF_EVERY_OBJECT if type_.startswith("kubernetes:") else ()))


def _at(value: Any, path: str) -> Any:
    """The value at a path such as a.b or a[].b, of a list in each item; None if there is none."""
    step, _, rest = path.partition(".")
    found = value.get(step.removesuffix("[]")) if isinstance(value, Mapping) else None
    if found is None or not rest:
        return found
    if step.endswith("[]"):
        return [_at(item, rest) for item in found]
    return _at(found, rest)
