"""The steps of an upgrade, their order and their duration: pure, from the current state and the target."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.facts.kubernetes import parts_of

from aks_infiniband_cli.azure.cluster import ClusterThere, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Object

Kind = Literal["control plane", "pool", "measured pool"]
_MINUTES: Final[Mapping[Kind, int]] = {"control plane": 10, "pool": 10, "measured pool": 30}
"""Minutes of a step, or of each machine of a pool: drained and reimaged, with its drivers built and a measurement if it
is measured. Assumed.
"""
_IMAGE: Final = "kubernetes.azure.com/node-image-version"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """The target of a pool's machines: a version of Kubernetes such as 1.36 or 1.36.3, or a node image."""

    kubernetes: str | None = None
    image: str | None = None

    def __str__(self) -> str:
        return f"Kubernetes {self.kubernetes}" if self.kubernetes else f"node image {self.image}"

    def reached_by(self, node: Object) -> bool:
        """True if a node has it."""
        if self.kubernetes is None:
            return _image(node) == self.image
        return is_version(_version(node), self.kubernetes)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a plan. machines: how many have to change; before: what they have."""

    kind: Kind
    name: str
    before: str
    target: Target
    machines: int = 0

    @property
    def minutes(self) -> int:
        """The approximate duration."""
        return _MINUTES[self.kind] * max(1, self.machines)


def _version(node: Object) -> str:
    return str(node["status"]["nodeInfo"]["kubeletVersion"]).removeprefix("v")


def _image(node: Object) -> str:
    return str((node["metadata"].get("labels") or {}).get(_IMAGE))


def is_version(version: str, wanted: str) -> bool:
    """True if a version with its patch is the one that is wanted, with or without a patch."""
    return parts_of(version)[: len(parts_of(wanted))] == parts_of(wanted)


def control_plane(there: ClusterThere, wanted: str, after: Sequence[str]) -> Iterator[Step]:
    """The step of the control plane; none if it has the version. after: those that AKS lets follow.

    Raises CommandError for a version that AKS does not let follow.
    """
    if is_version(there.version, wanted):
        return
    if parts_of(wanted) < parts_of(there.version)[: len(parts_of(wanted))]:
        raise CommandError(f"the control plane has {there.version}, and AKS takes none back to {wanted}")
    if not any(is_version(version, wanted) for version in after):
        offered = ", ".join(sorted(after, key=parts_of)) or "none"
        raise CommandError(
            f"AKS does not upgrade a control plane from {there.version} to {wanted}: it skips no minor version. Azure "
            f"offers {offered}"
        )
    yield Step(kind="control plane", name=there.location, before=there.version, target=Target(kubernetes=wanted))


def pools(
    there: ClusterThere, targets: Mapping[str, Target], nodes: Mapping[str, Sequence[Object]], measured: Sequence[str]
) -> Iterator[Step]:
    """The steps of the pools: system pools first, then those that are measured, in their order, then the others.

    targets: of the pools that are to change. nodes: by pool. measured: pools whose nodes are measured.
    """
    names = [name for name in there.pools if name in targets]
    order = [
        *(name for name in names if there.pools[name].system),
        *(name for name in measured if name in names),
        *(name for name in names if not there.pools[name].system and name not in measured),
    ]
    for name in order:
        pool, target = there.pools[name], targets[name]
        waiting = [node for node in nodes.get(name, ()) if not target.reached_by(node)]
        if waiting or _is_behind(pool, target) or pool.state != "Succeeded":
            now = (_version(waiting[0]), _image(waiting[0])) if waiting else (pool.version, pool.image)
            before = now[0] if target.kubernetes else now[1]
            kind: Kind = "measured pool" if name in measured else "pool"
            yield Step(kind=kind, name=name, before=before, target=target, machines=len(waiting))


def _is_behind(pool: PoolThere, target: Target) -> bool:
    return not is_version(pool.version, target.kubernetes) if target.kubernetes else pool.image != target.image


def refuse_many_at_once(there: ClusterThere, steps: Iterable[Step]) -> None:
    """Refuse a pool that is to be measured machine by machine, and whose machines AKS changes otherwise."""
    for step in steps:
        pool = there.pools.get(step.name)
        if step.kind == "measured pool" and pool and (pool.surges or pool.at_once != "1"):
            raise CommandError(
                f"AKS does not upgrade pool {step.name} one machine after the other: its maxSurge must be 0 and its "
                "maxUnavailable 1, as `pulumi up` sets them"
            )
