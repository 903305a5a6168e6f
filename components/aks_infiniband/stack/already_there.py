"""What is in a cluster by the names of a stack's objects, and was not made by the stack.

It stays as it is, and nothing is made beside it. The engine would take such an object for the stack's own: server-side
apply changes what is there, and a destroy deletes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pulumi

from aks_infiniband.diagnosis.there import Named, There, bears_our_mark, helm_release, made_by, was_taken_over
from aks_infiniband.diagnosis.view import Object
from aks_infiniband.resources import metadata

_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_PATCH: Final = "Patch"
"""How the provider's types of changes to objects end that others make."""
_SYSTEM: Final = Named(api_version="v1", kind="Namespace", name=metadata.SYSTEM_NAMESPACE)
_OPERATORS: Final = {
    metadata.GPU_OPERATOR_NAMESPACE: "aks-infiniband:gpuOperator.existing",
    "nvidia.com": "aks-infiniband:gpuOperator.existing",
    metadata.CERT_MANAGER_NAMESPACE: "aks-infiniband:certManager.existing",
}
"""By namespace or API group, the setting for what somebody else keeps."""


@dataclass(kw_only=True, slots=True)
class Declared:
    """The objects of a program by the names that they have in the cluster, complete once the program has ended."""

    objects: list[Named] = field(default_factory=list)
    patched: list[Named] = field(default_factory=list)
    """Those that a chart makes, and the program only waits for."""
    releases: list[tuple[str, str]] = field(default_factory=list)
    """Namespace and name of each Helm release."""

    def note(self, args: pulumi.ResourceTransformationArgs) -> None:
        """For the resource option `transformations`: changes nothing. What a destroy leaves is not noted."""
        if not args.type_.startswith("kubernetes:") or args.opts.retain_on_delete:
            return
        if args.type_ == _RELEASE:
            self.releases.append((str(args.props["namespace"]), str(args.props["name"])))
            return
        described = args.props.get("metadata") or {}
        read = described.get if isinstance(described, Mapping) else lambda key: getattr(described, key)
        named = Named(
            api_version=str(args.props.get("apiVersion") or args.props.get("api_version")),
            kind=str(args.props["kind"]),
            name=str(read("name")),
            namespace=str(read("namespace") or ""),
        )
        (self.patched if args.type_.endswith(_PATCH) else self.objects).append(named)


def keeper_of(found: There) -> str | None:
    """The stack whose cluster it is; None if no stack has written that down."""
    system = found.objects.get(_SYSTEM)
    said = {} if system is None else system["metadata"].get("annotations") or {}
    return said.get(metadata.STACK)


def lacking(declared: Declared, found: There, stack: str) -> Iterator[tuple[str, str]]:
    """What is there and is not the stack's, with who made it, and what to do; those of one remedy together.

    stack: project and stack.
    """
    keeper = keeper_of(found)
    if keeper is not None and keeper != stack:
        yield (
            f"stack {keeper} keeps this cluster, and this is stack {stack}",
            f"give this stack another cluster. If it is the same stack by a new name: kubectl annotate --overwrite "
            f"namespace {metadata.SYSTEM_NAMESPACE} {metadata.STACK}={stack}",
        )
        return
    by_remedy: dict[str, list[str]] = {}
    for what, remedy in _foreign(declared, found):
        by_remedy.setdefault(remedy, []).append(what)
    for remedy, objects in by_remedy.items():
        yield f"{', '.join(objects)}: there already, and this stack did not make it", remedy


def _foreign(declared: Declared, found: There) -> Iterator[tuple[str, str]]:
    for named in declared.objects:
        theirs = found.objects.get(named)
        if theirs is not None and (not bears_our_mark(theirs) or was_taken_over(theirs)):
            yield f"{named} (made by {made_by(theirs)})", _remedy(named, taken_over=bears_our_mark(theirs))
    for namespace, name in declared.releases:
        status = found.releases.get((namespace, name))
        if status is not None and not _is_ours(namespace, found):
            place = Named(api_version="v1", kind="Namespace", name=namespace)
            yield f"Helm release {namespace}/{name} ({status})", _remedy(place)
    for named in declared.patched:
        theirs = found.objects.get(named)
        if theirs is not None and not _of_a_release(theirs, declared.releases, found):
            yield f"{named} (made by {made_by(theirs)})", _remedy(named)


def _is_ours(namespace: str, found: There) -> bool:
    there = found.objects.get(Named(api_version="v1", kind="Namespace", name=namespace))
    return there is not None and bears_our_mark(there) and not was_taken_over(there)


def _of_a_release(theirs: Object, releases: Sequence[tuple[str, str]], found: There) -> bool:
    release = helm_release(theirs)
    return release is not None and release in releases and _is_ours(release[0], found)


def _remedy(named: Named, *, taken_over: bool = False) -> str:
    before = (
        f"an earlier release of this program put its labels there: take it out of the state, if it is there "
        f"(pulumi stack --show-urns, pulumi state delete URN), and kubectl label {named.kind.lower()} {named.name} "
        f"{'-'.join(metadata.PART_OF)}-; then "
        if taken_over
        else ""
    )
    group = named.api_version.rpartition("/")[0]
    place = named.name if named.kind == "Namespace" else named.namespace
    setting = _OPERATORS.get(place) or _OPERATORS.get(group)
    if setting is not None:
        return f"{before}set {setting}: true, which uses what is there and installs nothing"
    return (
        f"{before}leave it to whoever keeps it, and give the stack another cluster; or delete it, if nothing in the "
        "cluster needs it"
    )


def wanted(declared: Declared) -> Sequence[Named]:
    """What is looked for."""
    return list(dict.fromkeys([_SYSTEM, *declared.objects, *declared.patched]))


def stack_name() -> str:
    """Project and stack, by which the cluster of a stack that makes one is named, too."""
    return f"{pulumi.get_project()}/{pulumi.get_stack()}"
