"""Pools by their nodes' labels: which nodes they have, which machines those are, and how pods get their HCAs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL, SHORT_AGENT_POOL_LABEL
from aks_infiniband.facts.catalog.machine import Mode
from aks_infiniband.facts.rules import pool_name
from aks_infiniband.operators.offered import (
    FoundPool,
    Seen,
    UndecidedError,
    Way,
    agent_pool_of,
    decided,
    found_pool,
    infiniband_pools,
    privileged,
    size_of,
    ways,
)
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.access_documents import SharedAccess
from aks_infiniband.validation.job_parts import named_job
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.validation_job import validation_spec

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object

_SELECTED: Final = "selected"
"""The name of a pool whose nodes and selector do not name it."""
ACCOUNT: Final = "validation"
_WAITS: Final = Waits(poll_seconds=2, stable_seconds=4, timeout_seconds=600)
"""The nodes were ready when they were chosen: nothing is installed that they had to wait for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The choices if the cluster leaves something open; None leaves it to the cluster."""

    mode: Mode | None = None
    resource: str | None = None
    image: str | None = None

    def __bool__(self) -> bool:
        return any((self.mode, self.resource, self.image))


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """Nodes that are measured as one pool."""

    name: str
    selector: Mapping[str, str]
    nodes: Sequence[Object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmanaged:
    """A pool that no stack validates, as it is measured."""

    pool: FoundPool
    way: Way

    def told(self) -> str:
        """The way in which it is measured, in words."""
        pool, gpus = self.pool, self.pool.size.accelerator
        with_gpus = f"{pool.gpu_resource}" if pool.gpu_resource else "not measured, no device plugin offers them"
        and_gpus = f"; GPUs: {with_gpus}" if gpus else ""
        return f"{pool.node_count} of {pool.size.name}; InfiniBand: {self.way}{and_gpus}; limits: the size's"

    def document(self) -> dict[str, Any]:
        """The same for programs."""
        pool, way = self.pool, self.way
        document = {"vm_size": pool.size.name, "mode": way.mode, "because": way.because, "rdma_resource": way.resource}
        return {**document, "gpu_resource": pool.gpu_resource}


def labels_of(node: Object) -> Mapping[str, str]:
    """The labels of a node."""
    return node["metadata"].get("labels") or {}


def named(nodes: Sequence[Object], name: str) -> Chosen | None:
    """The nodes of a pool as AKS calls it; None if there is none."""
    for selector in ({AGENT_POOL_LABEL: name}, {SHORT_AGENT_POOL_LABEL: name}):
        if members := _with(nodes, selector):
            return Chosen(name=_name([name]), selector=selector, nodes=members)
    return None


def selected(nodes: Sequence[Object], selector: Mapping[str, str]) -> Chosen:
    """The nodes with these labels. Raises CommandError if there is none."""
    members = _with(nodes, selector)
    if not members:
        told = ",".join(f"{key}={value}" for key, value in selector.items())
        raise CommandError(f"no node has the labels {told}{_others(nodes)}")
    agent_pools = {label for node in members for label in (agent_pool_of(node),)}
    of_aks = [*agent_pools] if len(agent_pools) == 1 else []
    return Chosen(name=_name([*of_aks, *selector.values()]), selector=selector, nodes=members)


def _with(nodes: Sequence[Object], selector: Mapping[str, str]) -> list[Object]:
    return [node for node in nodes if selector.items() <= labels_of(node).items()]


def _name(candidates: Iterable[str]) -> str:
    """The first of these that a pool can be called."""
    for name in candidates:
        try:
            return pool_name(name)
        except ValueError:
            continue
    return _SELECTED


def there(nodes: Iterable[Object]) -> str:
    """The pools with InfiniBand in a cluster, in words; empty if no node is known to have it."""
    return "; ".join(
        f"pool {pool}: {len(names)} of {size}" if pool else f"without a pool's label: {', '.join(names[:3])} of {size}"
        for (pool, size), names in sorted(infiniband_pools(nodes).items())
    )


def _others(nodes: Iterable[Object]) -> str:
    others = there(nodes)
    return f"; nodes with InfiniBand are: {others}" if others else "; no node is of a size with InfiniBand"


def unmanaged(chosen: Chosen, seen: Seen, asked: Asked, *, nvlink: bool) -> Unmanaged:
    """The way in which a pool is measured. Raises CommandError, with what is allowed and the flag that decides.

    nvlink: whether the cluster knows ComputeDomains.
    """
    try:
        possible = ways(chosen.nodes, size_of(chosen.nodes), seen)
        if asked.mode == "driver-only" and all(way.mode != "driver-only" for way in possible):
            possible = [*possible, privileged(chosen.nodes, seen)]
        way = decided(possible, mode=asked.mode, resource=asked.resource)
        return Unmanaged(
            pool=found_pool(chosen.name, chosen.nodes, way, selector=chosen.selector, nvlink=nvlink), way=way
        )
    except UndecidedError as error:
        flags = _DECIDE if error.choices else _PRIVILEGED
        raise CommandError(f"pool {chosen.name}: how pods get InfiniBand is not clear: {error}. {flags}") from error
    except ValueError as error:
        raise CommandError(f"pool {chosen.name}: {error}") from error


_DECIDE: Final = "--mode says which, and --rdma-resource which resource"
_PRIVILEGED: Final = (
    "If the nodes have a driver all the same, --mode driver-only measures with privileged pods; aks-infiniband doctor "
    "says what is wrong with a device plugin"
)


def access_of(pools: Sequence[Unmanaged], asked: Asked, namespace: str) -> SharedAccess:
    """The shared parts of these pools' validations, in a namespace."""
    return SharedAccess(
        pools=[each.pool for each in pools],
        namespace=namespace,
        name=ACCOUNT,
        given_topologies={},
        expected=[expected_of(each.pool, _options(asked), node_preparation=False) for each in pools],
    )


def validation_of(unmanaged: Unmanaged, asked: Asked, access: SharedAccess) -> Deployed:
    """The validation of a pool, as a stack would leave it."""
    pool, options = unmanaged.pool, _options(asked)
    expected = expected_of(pool, options, node_preparation=False)
    spec = validation_spec(
        pool,
        options=options,
        waits=_WAITS,
        access=replace(access.for_pool(pool), networks_in=unmanaged.way.networks_in),
        expected=expected,
    )
    job = named_job(pool, spec)
    job["metadata"]["namespace"] = access.namespace
    return Deployed(
        pool=pool.name, namespace=access.namespace, job=job, expected=expected, accepted=None, lasting=False
    )


def _options(asked: Asked) -> ValidationOptions:
    return ValidationOptions(mode="warn", image=asked.image)
