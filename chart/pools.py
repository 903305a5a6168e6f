"""A pool as the chart's values describe it, and the kinds of pools whose documents differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, get_args

from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.baselines.choice import baselines_of
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize, NicDriver
from aks_infiniband.facts.dranet import DEVICE_CLASS
from aks_infiniband.facts.modes import ACCESS, DEFAULT_MODE
from aks_infiniband.operators.offered import FoundPool

MODES: Final = tuple(mode for mode, access in ACCESS.items() if not access.networks)
"""IPoIB networks have names and places that only a stack, or a look at the cluster, knows."""
FEW: Final = 2
"""The number of nodes that has its own limits; the least that is measured."""


def pool_of(values: Mapping[str, Any]) -> FoundPool:
    """The pool that an entry of `pools` in the chart's values describes."""
    mode = values.get("mode") or DEFAULT_MODE
    resource = values.get("rdmaResource") or ACCESS[mode].resource
    properties: dict[str, Any] = {
        "nic_driver": values.get("nicDriver"),
        "gpu_driver": values.get("gpuDriver"),
        "taints": tuple(values.get("taints") or ()),
        "node_selector": values.get("nodeSelector") or {AGENT_POOL_LABEL: values["name"]},
    }
    return FoundPool(
        name=values["name"],
        size=SIZES[values["vmSize"]],
        node_count=values["count"],
        mode=mode,
        resource=resource if ACCESS[mode].resource else None,
        device_class=values.get("deviceClass") or DEVICE_CLASS,
        nvlink=False,
        **{key: value for key, value in properties.items() if value},
    )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The properties of a pool, and of the release, that decide which documents there are. Everything else is filled
    in.

    The names are those that the templates have for it.
    """

    like: str
    """A machine size that has the same facts."""
    mode: str
    nic: str
    """The driver of the HCAs; it counts only if nothing hands the HCAs out."""
    gpus: str
    """offered, or none."""
    classes: str = "own"
    """own: claims are of the DeviceClass of this project's dranet; other: of any other."""
    count: str = "more"
    """few: FEW nodes; more: more than that."""
    verdict: str = "enforce"
    """The validation's mode."""
    image: str = "default"
    """given: the values name the image that measures."""

    @property
    def facts(self) -> dict[str, str]:
        """Each of them by its name."""
        return asdict(self)


def kinds(sizes: Iterable[str]) -> Iterator[Kind]:
    """Every kind of pool of these sizes, judged in every way."""
    for like in sorted(set(alike(sizes).values())):
        for gpus in ("offered", "none") if SIZES[like].accelerator else ("none",):
            for mode in MODES:
                for nic in get_args(NicDriver) if ACCESS[mode].privileged else (ANY_NIC,):
                    for classes in ("own", "other") if ACCESS[mode].claims else ("own",):
                        yield from _judged(Kind(like=like, mode=mode, nic=nic, gpus=gpus, classes=classes))


ANY_NIC: Final = "inbox"


def _judged(kind: Kind) -> Iterator[Kind]:
    for count in ("more", "few"):
        yield replace(kind, count=count)
        yield replace(kind, count=count, verdict="warn")
        yield replace(kind, count=count, image="given")


def alike(sizes: Iterable[str]) -> dict[str, str]:
    """By size, the first one of which everything that counts here is the same: those with fewer vCPUs are."""
    first: dict[str, str] = {}
    return {name: first.setdefault(_facts(SIZES[name]), name) for name in sizes}


def _facts(size: MachineSize) -> str:
    whole = replace(size, name="", vcpus=0, quota_vcpus=0, memory_gib=0)
    return repr((whole, [replace(row, vm_sizes=()) for row in baselines_of(size)])).replace(size.name, "")


def facts_of_sizes(sizes: Sequence[str]) -> dict[str, dict[str, str]]:
    """By size: which one it is like, and what a pool of it has if its values leave it out."""
    likes = alike(sizes)
    return {
        name: {
            "like": likes[name],
            "nicDriver": SIZES[name].default_nic_driver,
            "gpuDriver": SIZES[name].default_gpu_driver,
        }
        for name in sizes
    }
