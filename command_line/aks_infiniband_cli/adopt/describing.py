"""From a cluster, and the node pools that Azure shows, to a stack's configuration that the program's loader takes."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aks_infiniband.azure import read_back
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver
from aks_infiniband.stack.settings.mistakes import SettingsError
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.adopt.fits import BY_OTHERS, Fit, fit, ways_of
from aks_infiniband_cli.adopt.found import Found, Left, NodesOfPool
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import SUBSCRIPTION

Load = Callable[[Mapping[str, Any]], Stack]
_POOL: Final = re.compile(r"aks-infiniband:pools\[(\d+)\]")
_ADOPTED: Final = re.compile(r"aks-infiniband:existingCluster\.aks\.nodePools\.([a-z0-9]+)")
_GPU: Final = "nvidia.com/gpu"
_IPOIB: Final = (
    "mode ipoib needs the operator that this program installs. The networks stay, and pods can still join them"
)
_THEIRS: Final = "its nodes are only used"


@dataclass(frozen=True, kw_only=True, slots=True)
class AksPlace:
    """The AKS cluster that was named."""

    subscription: str
    resource_group: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolThere:
    """One pool that is to be described."""

    nodes: NodesOfPool | None
    """None for a pool without InfiniBand."""
    azure: Mapping[str, Any] | None = None
    """Azure's properties of it, if it is to be taken over."""

    @property
    def name(self) -> str:
        """Name of the pool."""
        return self.nodes.name if self.nodes else str((self.azure or {})["name"])


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenOver:
    """A node pool that becomes the stack's."""

    name: str
    id: str
    infiniband: bool
    changes: Sequence[str]
    """The changes that the first update makes in place, and why."""
    stays: Sequence[str]
    """Properties without a key in a stack file: they stay as they are."""


@dataclass(kw_only=True)
class Description:
    """A stack that describes a cluster."""

    configuration: dict[str, Any] = field(default_factory=dict)
    stack: Stack | None = None
    """The loader's result; None if there is nothing to describe."""
    taken: list[TakenOver] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


def describe(
    found: Found, pools: Sequence[PoolThere], *, kubeconfig: Mapping[str, str], aks: AksPlace | None, load: Load
) -> Description:
    """The description. Whatever the loader or Azure would refuse of a pool is left to others, and then out.

    kubeconfig: the section's keys that reach the cluster. Raises CommandError for what is wrong with the whole.
    """
    made = Description()
    todo = list(_describable(made, pools, found))
    while todo:
        made.configuration = _configuration(found, todo, kubeconfig, aks)
        try:
            made.stack = load(made.configuration)
        except SettingsError as error:
            todo = _without_mistakes(made, todo, error)
            continue
        kept = [each for pool in todo if (each := _keeping(made, pool))]
        if kept == todo:
            break
        todo, made.taken = kept, []
    if not todo:
        made.stack = None
    return made


def _leave(made: Description, pool: PoolThere, why: str) -> None:
    made.left.append(Left(what=f"pool {pool.name}", why=why))


def _describable(made: Description, pools: Sequence[PoolThere], found: Found) -> Iterator[PoolThere]:
    for pool in pools:
        why = _why_not_described(pool, found)
        if pool.nodes and any(way.networks for way in ways_of(pool.nodes, found)):
            made.left.append(Left(what=f"IPoIB networks of pool {pool.name}", why=_IPOIB))
        if why:
            _leave(made, pool, why)
        else:
            yield pool


def _why_not_described(pool: PoolThere, found: Found) -> str | None:
    hands_out = ways_of(pool.nodes, found) if pool.nodes else []
    if hands_out and all(way.mode not in BY_OTHERS for way in hands_out):
        return f"its HCAs are handed out by {hands_out[0]}. This mode needs an operator that the stack installs"
    if hands_out and not found.seen.policies:
        return (
            f"its HCAs are handed out by {hands_out[0]}: a second device plugin would hand them out twice. Remove the "
            "first, and aks-infiniband installs its own"
        )
    return None


def why_not_taken_over(azure: Mapping[str, Any]) -> str | None:
    """Why a node pool stays with others, whatever its cluster has; None if it need not."""
    if azure.get("mode") != "User":
        return f"it is a {str(azure.get('mode')).lower()} pool, which the cluster itself needs: {_THEIRS}"
    if azure.get("provisioningState") != "Succeeded":
        return f"it is {azure.get('provisioningState')} in Azure, and must be Succeeded: {_THEIRS}"
    return None


def _configuration(
    found: Found, pools: Sequence[PoolThere], kubeconfig: Mapping[str, str], aks: AksPlace | None
) -> dict[str, Any]:
    existing: dict[str, Any] = dict(kubeconfig)
    taken = [pool.azure for pool in pools if pool.azure]
    configuration: dict[str, Any] = {}
    if aks and taken:
        configuration[SUBSCRIPTION] = aks.subscription
        node_pools = {str(pool["name"]): _beside(pool) for pool in taken}
        existing["aks"] = {"resourceGroup": aks.resource_group, "name": aks.name, "nodePools": node_pools}
    fits = {pool.name: _fit(pool, found) for pool in pools}
    keys = [_keys(pool, fits[pool.name]) for pool in pools]
    network, gpus = _operators(found, pools, [each for each in fits.values() if each])
    for pool, each in zip(pools, keys, strict=True):
        own = fits[pool.name]
        if pool.nodes and own and own.mode != network["mode"]:
            each["mode"] = own.mode
        if pool.nodes and own and own.nic_driver != SIZES[pool.nodes.vm_size].default_nic_driver:
            each["nicDriver"] = own.nic_driver
    return {
        **configuration,
        "aks-infiniband:existingCluster": existing,
        "aks-infiniband:pools": keys,
        **({"aks-infiniband:networkOperator": network} if network else {}),
        **({"aks-infiniband:gpuOperator": gpus} if gpus else {}),
        "aks-infiniband:validation": {"mode": "enforce"},
    }


def _operators(found: Found, pools: Sequence[PoolThere], fits: Sequence[Fit]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sections of both operators."""
    network: dict[str, Any] = {"existing": True} if found.seen.policies else {}
    if fits:
        network["mode"] = fits[0].mode
    if any(pool.nodes and not pool.nodes.of_aks for pool in pools):
        network["nodePreparation"] = True
    gpus = found.gpu_policy is not None and any(each.gpu_driver != "none" for each in fits)
    return network, {"existing": True} if gpus else {}


def _keys(pool: PoolThere, fits: Fit | None) -> dict[str, Any]:
    if pool.azure:
        keys = read_back.keys_of(pool.azure)
    else:
        assert pool.nodes
        keys = pool.nodes.keys()
    return {**keys, **(fits.keys(SIZES[pool.nodes.vm_size]) if pool.nodes and fits else {"infiniband": False})}


def _fit(pool: PoolThere, found: Found) -> Fit | None:
    if pool.nodes is None:
        return None
    keys = read_back.keys_of(pool.azure) if pool.azure else pool.nodes.keys()
    return fit(pool.nodes, keys.get("taints") or (), found, _owners(pool, found))


def _owners(pool: PoolThere, found: Found) -> list[GpuDriver]:
    """The possible owners of the GPUs' driver, the likeliest first. Parts that others offer are left to them."""
    assert pool.nodes
    size = SIZES[pool.nodes.vm_size]
    gpus = size.accelerator
    if gpus is None or gpus.vendor != "nvidia":
        return [size.default_gpu_driver]
    if found.gpu_policy is None and pool.nodes.offers(_GPU):
        return ["none"]
    by_aks = pool.azure and ((pool.azure.get("gpuProfile") or {}).get("driver") == "Install")
    owners: list[GpuDriver] = [owner for owner in size.gpu_driver_owners if owner != "none"]
    if by_aks is not None:
        owners = [owner for owner in owners if (owner == "aks") == by_aks]
    if found.gpu_policy is None:
        owners = owners[:1]
    return owners or ["none"]


def _beside(azure: Mapping[str, Any]) -> dict[str, Any]:
    """Azure's properties of a pool in addition to the keys of a pool: an entry of existingCluster.aks.nodePools."""
    settings = {
        "subnetId": azure.get("vnetSubnetID"),
        "podSubnetId": azure.get("podSubnetID"),
        "tags": azure.get("tags"),
    }
    return {key: value for key, value in settings.items() if value}


def _without_mistakes(made: Description, pools: Sequence[PoolThere], error: SettingsError) -> list[PoolThere]:
    """The pools that are left: one that the loader refuses is left to others, and one of others is left out."""
    reasons: dict[str, list[str]] = {}
    for mistake in error.mistakes:
        index, name = _POOL.match(mistake.key), _ADOPTED.match(mistake.key)
        if not index and not name:
            raise CommandError(f"the cluster cannot be described: {mistake}") from error
        which = pools[int(index[1])].name if index else name[1] if name else ""
        reasons.setdefault(which, []).append(str(mistake))
    remaining = []
    for pool in pools:
        if pool.name not in reasons:
            remaining.append(pool)
            continue
        why = "; ".join(reasons[pool.name])
        given_up = pool.azure is not None and pool.nodes is not None
        _leave(made, pool, f"{why}{f': {_THEIRS}' if given_up else ''}")
        if given_up:
            remaining.append(replace(pool, azure=None))
    return remaining


def _keeping(made: Description, pool: PoolThere) -> PoolThere | None:
    """The pool, as it was if an update would not replace it in Azure, and else as others' pool; None if that is none
    with InfiniBand.
    """
    if pool.azure is None:
        return pool
    assert made.stack
    assert made.stack.adopted
    args = made.stack.adopted.arguments_of(pool.name)
    wanted = read_back.asked(args)
    differences = list(read_back.differences(pool.azure, wanted))
    replacing = [str(each) for each in differences if each.replaces]
    if replacing:
        _leave(made, pool, f"Pulumi would replace it, because it cannot change {'; '.join(replacing)}: {_THEIRS}")
        return replace(pool, azure=None) if pool.nodes else None
    moving = [name for name in read_back.MOVING if pool.azure.get(name) and name not in wanted]
    made.taken.append(
        TakenOver(
            name=pool.name,
            id=str(pool.azure["id"]),
            infiniband=pool.nodes is not None,
            changes=[
                *map(str, differences),
                *(f"{name} is no longer set by the stack: others change it" for name in moving),
            ],
            stays=list(read_back.beyond(pool.azure, args)),
        )
    )
    return pool
