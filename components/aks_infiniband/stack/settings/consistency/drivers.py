"""One owner for the GPUs' driver in a cluster, and drivers that the machines can run."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.catalog import Accelerator, GpuSoftware
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool

_TO_COME: Final[dict[GpuSoftware, str]] = {
    "rocm": "AMD's ROCm GPU operator",
    "dra": "NVIDIA's DRA driver with ComputeDomains",
}
"""What makes GPUs usable that we do not install yet."""
_NO_DMA_BUF: Final = ("V100",)
"""GPUs older than Turing: NVIDIA's open kernel modules, which DMA-BUF needs, do not drive them (NVIDIA, GPU Operator,
"GPUDirect RDMA", prerequisites)."""


def check(seen: Seen) -> Iterator[Inconsistency]:
    """Of the pools with InfiniBand."""
    for pool in seen.infiniband_pools:
        if pool.size is not None and pool.gpu_driver in {"operator", "aks"}:
            yield from _owner(pool, pool.size.accelerator)
    yield from _two_owners(seen)
    yield from _one_module(seen)
    yield from _versions(seen)


def _owner(pool: SeenPool, gpus: Accelerator | None) -> Iterator[Inconsistency]:
    path, owner = pool.path("gpuDriver"), pool.gpu_driver
    if gpus is None:
        reason = f"must be none: {pool.given.vm_size} has no GPUs; leave it out"
        yield Inconsistency(path, owner, reason)
    elif gpus.software in _TO_COME:
        yield Inconsistency(
            path,
            owner,
            f"must be none for {gpus.model}: its GPUs need {_TO_COME[gpus.software]}, which this program does not "
            "install yet; the pool and its InfiniBand work without, and its GPUs are not offered to pods",
        )
    elif gpus.model in _NO_DMA_BUF and pool.nic_driver == "inbox":
        yield Inconsistency(
            pool.path("nicDriver"),
            "inbox",
            f"must be doca-ofed for {gpus.model}: the inbox driver reaches GPUs by DMA-BUF, which needs newer ones, "
            "and every message would go through the host's memory",
        )


def _two_owners(seen: Seen) -> Iterator[Inconsistency]:
    """Driver, toolkit and runtime class are one for each GPU Operator, and there is one (field reports, A4)."""
    owned = [pool for pool in seen.infiniband_pools if pool.gpu_driver in {"operator", "aks"} and _ours(pool)]
    for pool in owned[1:]:
        if pool.gpu_driver != owned[0].gpu_driver:
            yield Inconsistency(
                pool.path("gpuDriver"),
                pool.gpu_driver,
                f"must be {owned[0].gpu_driver}, as pool {owned[0].name} has it: a cluster has one owner of GPU "
                "drivers, and two break the nodes; set gpuDriver of one pool, or none for the GPUs of one of them",
            )


def _ours(pool: SeenPool) -> bool:
    """Whether it has GPUs that the GPU Operator makes usable."""
    gpus = pool.size.accelerator if pool.size is not None else None
    return gpus is not None and gpus.software == "gpu-operator"


def _one_module(seen: Seen) -> Iterator[Inconsistency]:
    """The operator's driver pods wait for an OFED container on every node, or on none (chart value driver.rdma)."""
    owned = [pool for pool in seen.infiniband_pools if pool.gpu_driver == "operator" and _ours(pool)]
    known = [pool for pool in owned if pool.nic_driver is not None]
    for pool in known[1:]:
        if pool.nic_driver != known[0].nic_driver:
            yield Inconsistency(
                pool.path("nicDriver"),
                pool.nic_driver,
                f"must be {known[0].nic_driver}, as pool {known[0].name} has it: the GPU Operator's drivers wait for "
                "an OFED container on all nodes or on none",
            )


def _versions(seen: Seen) -> Iterator[Inconsistency]:
    """A driver's version where nobody installs that driver."""
    gpu, network = seen.settings.gpu_operator, seen.network_operator
    owners = [pool.gpu_driver for pool in seen.infiniband_pools]
    if gpu is not None and gpu.driver_version and None not in owners and "operator" not in owners:
        reason = "says nothing: no pool has gpuDriver operator; leave it out"
        yield Inconsistency(("gpuOperator", "driverVersion"), gpu.driver_version, reason)
    sources = [pool.nic_driver for pool in seen.infiniband_pools]
    if network is not None and network.driver_version and None not in sources and "doca-ofed" not in sources:
        reason = "says nothing: every pool has the inbox driver; leave it out"
        yield Inconsistency(("networkOperator", "driverVersion"), network.driver_version, reason)
