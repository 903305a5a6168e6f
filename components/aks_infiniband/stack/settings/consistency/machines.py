"""Rules for a pool's machines and their software: size, owners of drivers, system and images."""

import re
from collections.abc import Iterator

from aks_infiniband.azure import fabric
from aks_infiniband.facts.azure_names import has_rdma
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.described import FASTEST, RATES_GBPS
from aks_infiniband.facts.kubernetes import UBUNTU_IS_2404_SINCE, minor_of
from aks_infiniband.facts.systems import refuse_gpus, system_of
from aks_infiniband.handwritten.form import nearest
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known, unlike_the_first


def _described(reading: Reading) -> Iterator[Mistake]:
    for name in reading.settings.sizes:
        if name.lower() in map(str.lower, SIZES):
            yield wrong(("sizes", name), None, "is in the catalogue already, and cannot be described again")
        elif not has_rdma(name):
            reason = "is a size without InfiniBand: one that has it carries an r, for RDMA, behind its number"
            yield wrong(("sizes", name), None, reason)


def _adapters(reading: Reading) -> Iterator[Mistake]:
    """An adapter drives links up to a generation, and a link has the generation's rate at most."""
    described = known(reading.settings.sizes.items(), lambda size: size[1].infiniband)
    for ((name, _), _), adapter in known(described, lambda entry: entry[1].adapter):
        ports = reading.settings.sizes[name].infiniband
        for _, generation in known([ports], lambda ports: ports.generation):
            path = ("sizes", name, "infiniband")
            if RATES_GBPS[generation] > RATES_GBPS[FASTEST[adapter]]:
                reason = f"must be {FASTEST[adapter]} or slower with {adapter}, or the adapter a newer one"
                yield wrong((*path, "generation"), generation, reason)
            for _, rate in known([ports], lambda ports: ports.rate_gbps):
                if rate is not None and rate > RATES_GBPS[generation]:
                    reason = f"must be {RATES_GBPS[generation]} or less: a port of {generation} is not faster"
                    yield wrong((*path, "rateGbps"), rate, reason)


def _system_pool(reading: Reading) -> Iterator[Mistake]:
    size = reading.cluster.system_pool.vm_size
    if size in reading.settings.sizes:
        reason = "is described with InfiniBand: give it a separate pool under aks-infiniband:pools"
        yield wrong(("cluster", "systemPool", "vmSize"), size, reason)


def _fits(pool: PoolReading) -> Iterator[Mistake]:
    """A pool's size has InfiniBand if the pool has."""
    name, sizes = pool.given.vm_size, pool.stack.sizes
    if pool.infiniband and name not in sizes and name not in pool.stack.settings.sizes:
        yield wrong(pool.path("vmSize"), name, _unknown(name, list(sizes)))
    if not pool.infiniband and (reason := fabric.ordinary_size(name, sizes)):
        yield wrong(pool.path("vmSize"), name, reason)


def _unknown(name: str, sizes: list[str]) -> str:
    close = nearest(name, sizes)
    same = close is not None and close.lower() == name.lower()
    near = f"; {'did you mean' if same else 'nearest known size:'} {close}{'?' if same else ''}" if close else ""
    features = re.fullmatch(r"Standard_[A-Z]+\d+(?:-\d+)?([a-z]*)(_\w+)?", name)
    if features and "r" not in features[1]:
        return (
            f"does not have InfiniBand (a size that has it carries an r, for RDMA, behind its number){near}; "
            "or set infiniband: false for a pool of ordinary machines"
        )
    return (
        f"must be a known InfiniBand size{near}; or describe it under aks-infiniband:sizes; known: {', '.join(sizes)}"
    )


def _feature(reading: Reading) -> Iterator[Mistake]:
    """AKSInfinibandSupport is registered for a whole subscription, or not."""
    gated = {True: "must be registered", False: "must not be registered"}
    features = known(reading.infiniband_pools, lambda pool: pool.facts.size.placement_feature)
    for pool, needed, first, other in unlike_the_first(features) if reading.in_azure else ():
        reason = (
            f"cannot be in one stack with pool {first.name} ({first.facts.size.name}): for the one the subscription's "
            f"feature AKSInfinibandSupport {gated[needed]}, for the other it {gated[other]}; "
            "give one of them a stack in another subscription"
        )
        yield wrong(pool.path("vmSize"), pool.facts.size.name, reason)


def _os_sku(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.stack.in_azure:
        return
    sku, version, path = pool.os_sku, minor_of(pool.kubernetes_version), pool.path("osSku")
    try:
        system = system_of(sku, version)
        if pool.infiniband:
            refuse_gpus(sku, pool.facts.size.accelerator)
    except ValueError as error:
        yield wrong(path, sku, str(error))
        return
    if not pool.infiniband or system == "Ubuntu 24.04":
        return
    if pool.facts.size.architecture == "arm64":
        yield _needs_2404(pool, f"{pool.given.vm_size}, whose drivers are built for no other system")
    elif pool.facts.nic_driver == "inbox":
        yield _needs_2404(pool, "the inbox driver, which is that of its kernel")


def _needs_2404(pool: PoolReading, what: str) -> Mistake:
    """Ubuntu2404 by name is in no API version that is sent."""
    since = ".".join(map(str, UBUNTU_IS_2404_SINCE))
    if minor_of(pool.kubernetes_version) >= UBUNTU_IS_2404_SINCE:
        return wrong(pool.path("osSku"), pool.os_sku, f"must be Ubuntu, which is 24.04, for {what}")
    reason = f"must be {since} or later, because Ubuntu is 24.04 from there on: pool {pool.name} has {what}"
    return wrong(("cluster", "kubernetesVersion"), pool.stack.cluster.kubernetes_version, reason)


STACK = (_described, _adapters, _system_pool, _feature)
POOL = (_fits, _os_sku)
