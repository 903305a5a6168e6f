"""Objects in a cluster under the name of one that a program is about to make, and that are not the program's.

Such an object stays as it is: the engine would take it for the program's own, because server-side apply changes what is
there, and a destroy would delete it. The engine calls this before each creation, at preview too, and never for objects
in the state. The first answer is for all objects of a program, so that none is made next to one of others.
"""

import asyncio
import copy
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final
from weakref import WeakKeyDictionary

import pulumi

from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import text_of
from aks_infiniband.access.looking import within_limit
from aks_infiniband.resources import metadata
from aks_infiniband.resources.there import (
    Looker,
    Named,
    Object,
    There,
    bears_our_mark,
    helm_release,
    made_by,
    was_taken_over,
)
from aks_infiniband.terminal import page

_LIMIT_SECONDS: Final = 30.0
_ANSWER_SECONDS: Final = 120.0
"""The time of an API server for its first answer, while the owner of its objects is unknown. Assumed: the address of a
new cluster is not found everywhere at once.
"""
_PAUSE_SECONDS: Final = 5.0
_HOOK: Final = "aks-infiniband-there-already"
_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_IPOIB_NETWORK: Final = "kubernetes:mellanox.com/v1alpha1:IPoIBNetwork"
"""Keeps no annotation: the Network Operator leaves its own alone (Mellanox/network-operator v26.4.1,
pkg/state/state_ipoib_network.go)."""
_PATCH: Final = "Patch"
"""The ending of the provider's types of changes to objects that others make."""
_INSTEAD: Final = {
    metadata.NETWORK_OPERATOR_NAMESPACE: "aks-infiniband:networkOperator.existing",
    "mellanox.com": "aks-infiniband:networkOperator.existing",
    metadata.GPU_OPERATOR_NAMESPACE: "aks-infiniband:gpuOperator.existing",
    "nvidia.com": "aks-infiniband:gpuOperator.existing",
    metadata.CERT_MANAGER_NAMESPACE: "aks-infiniband:certManager.existing",
}
"""By namespace or API group, the setting for what others keep."""
_SEE: Final = "not made, because the cluster has objects of others: another error names them"
_READ: Final = "log in with the right to get what the program makes and to list Secrets, or try again once it answers"


def _namespace(name: str) -> Named:
    return Named(api_version="v1", kind="Namespace", name=name)


_SYSTEM: Final = _namespace(metadata.SYSTEM_NAMESPACE)


class AlreadyThereError(pulumi.RunError):
    """Something is there by the name of an object that was to be made; the text says whose it is, and what to do."""


@dataclass(kw_only=True, slots=True)
class Declared:
    """The objects of a program by the names that they have in the cluster."""

    objects: dict[Named, None] = field(default_factory=dict)
    patched: dict[Named, None] = field(default_factory=dict)
    """Objects that a chart makes, and that the program only changes or waits for."""
    releases: dict[tuple[str, str], None] = field(default_factory=dict)
    """Namespace and name of each Helm release."""

    def wanted(self, releases: Iterable[tuple[str, str]]) -> list[Named]:
        """The objects to look for. releases: of the whole program, of which one makes what is patched."""
        grounds = {place for place, _ in (releases if self.patched else self.releases)}
        return list(dict.fromkeys([_SYSTEM, *map(_namespace, sorted(grounds)), *self.objects, *self.patched]))

    def note(self, type_: str, props: Mapping[str, Any]) -> None:
        """Take down one object. One whose name is not known yet is looked for once it is made."""
        if type_ == _RELEASE:
            place, name = props.get("namespace"), props.get("name")
            if isinstance(place, str) and isinstance(name, str):
                self.releases[place, name] = None
            return
        described = props.get("metadata") or {}
        read = described.get if isinstance(described, Mapping) else lambda key: getattr(described, key)
        version, kind = props.get("apiVersion") or props.get("api_version"), props.get("kind")
        name, namespace = read("name"), read("namespace") or ""
        if not all(isinstance(part, str) for part in (version, kind, name, namespace)):
            return
        named = Named(api_version=str(version), kind=str(kind), name=str(name), namespace=str(namespace))
        (self.patched if type_.endswith(_PATCH) else self.objects)[named] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Whose:
    """Distinguishes the program's objects from those of others."""

    stack: str
    """Project and stack."""
    found: There
    releases: Mapping[tuple[str, str], None]
    """The program's own, by namespace and name."""
    certain: bool
    """True if an object must say itself that it is the stack's. Objects of earlier releases do not say it, and are in
    the state.
    """

    def lacking(self, declared: Declared) -> Iterator[tuple[str, str]]:
        """Objects that exist and are not the stack's, with their maker, and what to do; those of one remedy
        together.
        """
        keeper = self._keeper
        if keeper is not None and keeper != self.stack:
            yield (
                f"stack {keeper} keeps this cluster, and this is stack {self.stack}",
                f"give this stack another cluster. If it is the same stack by a new name: kubectl annotate --overwrite "
                f"namespace {metadata.SYSTEM_NAMESPACE} {metadata.STACK}={self.stack}",
            )
            return
        by_remedy: dict[str, list[str]] = {}
        for what, remedy in self._foreign(declared):
            by_remedy.setdefault(remedy, []).append(what)
        for remedy, objects in by_remedy.items():
            yield f"{', '.join(objects)}: there already, and this stack did not make it", remedy

    def _foreign(self, declared: Declared) -> Iterator[tuple[str, str]]:
        objects = self.found.objects
        for named in declared.objects:
            if named in objects and not self._is_ours(objects[named]):
                yield f"{named} (made by {self._maker(objects[named])})", self._remedy(named, objects[named])
        for place, name in declared.releases:
            status = self.found.releases.get((place, name))
            if status is not None and not self._is_our_namespace(place):
                yield f"Helm release {place}/{name} ({status})", self._remedy(_namespace(place), None)
        for named in declared.patched:
            if named in objects and not self._is_of_our_release(objects[named]):
                yield f"{named} (made by {made_by(objects[named])})", self._remedy(named, None)

    @property
    def _keeper(self) -> str | None:
        """The stack whose cluster it is; None if no stack has written that down."""
        system = self.found.objects.get(_SYSTEM)
        return None if system is None or not bears_our_mark(system) else _stack_of(system)

    def _is_ours(self, theirs: Object) -> bool:
        stack = _stack_of(theirs)
        if stack == self.stack:
            return True
        if not bears_our_mark(theirs) or was_taken_over(theirs):
            return False
        # Objects of a stack that was renamed have its old name until an update has reached them.
        return not self.certain or (stack or self._keeper) == self.stack

    def _is_our_namespace(self, name: str) -> bool:
        namespace = self.found.objects.get(_namespace(name))
        return namespace is not None and self._is_ours(namespace)

    def _is_of_our_release(self, theirs: Object) -> bool:
        release = helm_release(theirs)
        return release is not None and release in self.releases and self._is_our_namespace(release[0])

    def _maker(self, theirs: Object) -> str:
        stack = _stack_of(theirs)
        return made_by(theirs) if stack is None else f"stack {stack}"

    def _remedy(self, named: Named, theirs: Object | None) -> str:
        """theirs: None for what the program would not make itself."""
        place = named.name if named.kind == "Namespace" else named.namespace
        setting = _INSTEAD.get(place) or _INSTEAD.get(named.api_version.rpartition("/")[0])
        instead = (
            f"set {setting}: true, which uses what is there and installs nothing ({page('existing-cluster')})"
            if setting is not None
            else "give the stack another cluster; or delete it, if nothing in the cluster needs it"
        )
        if theirs is None or not bears_our_mark(theirs) or _stack_of(theirs) not in (None, self.stack):
            return instead
        where = f" --namespace {named.namespace}" if named.namespace else ""
        what = f"{named.kind.lower()} {named.name}{where}"
        if not was_taken_over(theirs):
            return (
                f"if this stack made it, in an update that was interrupted: kubectl annotate {what} "
                f"{metadata.STACK}={self.stack}; else {instead}"
            )
        return (
            "an earlier release of this program put its labels there: take it out of the state, if it is there "
            f"(pulumi stack --show-urns, pulumi state delete URN), and kubectl label {what} "
            f"{'-'.join(metadata.PART_OF)}-; then {instead}"
        )


def _stack_of(present: Object) -> str | None:
    """The stack that an object says it is of."""
    said: str | None = (present["metadata"].get("annotations") or {}).get(metadata.STACK)
    return said


@dataclass(kw_only=True, eq=False)
class _Cluster:
    """The objects that a program makes in one cluster."""

    provider: pulumi.ProviderResource | None
    """The provider that reaches it; None for the engine's own."""
    stack: str
    """Project and stack."""
    changes: bool
    """True if the engine is about to change the cluster."""
    hook_name: str
    declared: Declared = field(default_factory=Declared)
    first: asyncio.Task[str] | None = None
    """The look at all objects: why nothing is made at all, or an empty text."""
    surroundings: tuple[str | None, str | None]
    """Kubeconfig and context of the engine's provider, as the stack's configuration has them."""
    looker: Looker | None = None
    hook: pulumi.ResourceHook = field(init=False)

    def __post_init__(self) -> None:
        options = pulumi.ResourceHookOptions(on_dry_run=True)
        self.hook = pulumi.ResourceHook(self.hook_name, self.before_create, options)

    async def before_create(self, args: pulumi.ResourceHookArgs) -> None:
        """Raises AlreadyThereError."""
        begins = self.first is None
        if self.first is None:
            self.first = asyncio.create_task(self._refusal(self.declared, certain=False))
        if refused := await self.first:
            raise AlreadyThereError(refused if begins else _SEE)
        one = Declared()
        one.note(args.type, args.new_inputs or {})
        if refused := await self._refusal(one, certain=self.changes):
            raise AlreadyThereError(refused)

    async def _refusal(self, declared: Declared, *, certain: bool) -> str:
        """Why these objects are not made, in words; empty if nothing keeps them from it."""
        there = await self._there(declared)
        whose = Whose(stack=self.stack, found=there, releases=self.declared.releases, certain=certain)
        lacking = list(whose.lacking(declared))
        if there.unread and self.changes:
            # Without an answer it is not known whose the objects are, and the engine would change and own them.
            lacking.append((f"the cluster does not report what it has ({there.unread[0]})", _READ))
        lines = "\n".join(f"  - {what}\n    do: {remedy}" for what, remedy in lacking)
        return f"nothing was made in the cluster, because others have to act first:\n{lines}" if lacking else ""

    async def _there(self, declared: Declared) -> There:
        """The objects among these that the cluster has. Before it is changed, an API server that nothing reaches is
        waited for.
        """
        access = await self._access()
        if access is None:
            return There(unread=["how to reach it is not known yet"], reached=False)
        read = partial(self._read, access, declared)
        begun = time.monotonic()
        while True:
            there = await within_limit(read, _LIMIT_SECONDS)
            there = there or There(unread=[f"no answer within {_LIMIT_SECONDS:g} s"], reached=False)
            if there.reached or not self.changes or time.monotonic() - begun > _ANSWER_SECONDS:
                return there
            pulumi.log.info(f"waiting for the cluster to say what it has ({there.unread[0]})", ephemeral=True)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _access(self) -> tuple[str | None, str | None] | None:
        """Kubeconfig and context with which the provider reaches the cluster; None while they are not known.

        Both come from the provider's own outputs. The engine would answer only if it had a free place (with 3.259, four
        for each core), and all of its places may be taken by the creations that wait for this. At preview an output
        that the provider lacks is unknown.
        """
        kubeconfig, context = self.surroundings
        if self.provider is None:
            return kubeconfig, context
        outputs = vars(self.provider)
        if "kubeconfig" not in outputs or not await outputs["kubeconfig"].is_known():
            return None
        return await outputs["kubeconfig"].future() or kubeconfig, await outputs["context"].future() or context

    def _read(self, access: tuple[str | None, str | None], declared: Declared) -> There:
        if self.looker is None:
            kubeconfig, context = access
            try:
                self.looker = Looker(text_of(kubeconfig, context=context))
            except KubeconfigError as error:
                return There(unread=[str(error)])
        wanted = declared.wanted(self.declared.releases)
        return self.looker.read(wanted, declared.releases, limit_seconds=_LIMIT_SECONDS)


_clusters: WeakKeyDictionary[Any, dict[pulumi.ProviderResource | None, _Cluster]] = WeakKeyDictionary()
"""By the connection of a program to its engine, of which each run has its own, and there by provider."""
_numbers: Final = count(1)
"""Numbers for hooks with names that would not be unique: the engine takes a name once."""


@dataclass(kw_only=True)
class HookNames:
    """The names of the hooks that this process registers."""

    numbered: bool = False
    """True in a process that makes components for programs in other languages: each component has a separate connection
    to the engine, and all of them have the provider of one cluster.
    """

    def name(self, provider: str | None, taken: Iterable[str]) -> str:
        """A hook's name. provider: the name of the cluster's provider, empty if another process has made it and its
        name is unknown here; None for the engine's own. taken: the names of the same connection.
        """
        name = _HOOK if provider is None else f"{_HOOK}-{provider or next(_numbers)}"
        return f"{name}-{next(_numbers)}" if self.numbered or name in taken else name


HOOK_NAMES: Final = HookNames()


def never_take_over(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    """For the resource option `transformations`: what is made in a cluster says whose it is, and is not made if others
    have it. An imported object is left to the person who imports it, and an object that outlives the stack is never the
    stack's.
    """
    if not args.type_.startswith("kubernetes:") or args.opts.retain_on_delete or args.opts.import_:
        return None
    cluster = _cluster_of(args)
    cluster.declared.note(args.type_, args.props)
    if args.opts.hooks is not None and cluster.hook in (args.opts.hooks.before_create or ()):
        return None  # the component of a component
    hooks = pulumi.ResourceHookBinding(before_create=[cluster.hook])
    opts = pulumi.ResourceOptions.merge(pulumi.ResourceOptions(hooks=hooks), args.opts)
    return pulumi.ResourceTransformationResult(props=_signed(args, cluster.stack), opts=opts)


def _signed(args: pulumi.ResourceTransformationArgs, stack: str) -> Mapping[str, Any]:
    """The inputs of an object, with the stack whose it is. One that keeps no annotation is the stack's if it bears our
    labels and the cluster is the stack's.
    """
    described: Any = args.props.get("metadata")
    if args.type_.endswith(_PATCH) or args.type_ == _IPOIB_NETWORK or described is None:
        return args.props
    if isinstance(described, Mapping):
        signed: Any = {**described, "annotations": {**(described.get("annotations") or {}), metadata.STACK: stack}}
    else:
        signed = copy.copy(described)
        signed.annotations = {**(described.annotations or {}), metadata.STACK: stack}
    return {**args.props, "metadata": signed}


def _cluster_of(args: pulumi.ResourceTransformationArgs) -> _Cluster:
    parent = args.opts.parent
    provider = args.opts.provider or (None if parent is None else parent.get_provider(args.type_))
    clusters = _clusters.setdefault(pulumi.runtime.settings.get_monitor(), {})
    if provider not in clusters:
        name = None if provider is None else provider.pulumi_resource_name
        configured = pulumi.Config("kubernetes")
        clusters[provider] = _Cluster(
            provider=provider,
            stack=f"{pulumi.get_project()}/{pulumi.get_stack()}",
            changes=not pulumi.runtime.is_dry_run(),
            surroundings=(configured.get("kubeconfig"), configured.get("context")),
            hook_name=HOOK_NAMES.name(name, [cluster.hook_name for cluster in clusters.values()]),
        )
    return clusters[provider]
