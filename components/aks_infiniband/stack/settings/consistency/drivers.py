"""One owner for the GPUs' driver in a cluster, and drivers that the machines can run."""

from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.catalog import GpuSoftware
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known

_TO_COME: Final[dict[GpuSoftware, str]] = {
    "rocm": "AMD's ROCm GPU operator",
    "dra": "NVIDIA's DRA driver with ComputeDomains",
}
"""What makes GPUs usable that we do not install yet."""
_NO_DMA_BUF: Final = ("V100",)
"""GPUs older than Turing: NVIDIA's open kernel modules, which DMA-BUF needs, do not drive them (NVIDIA, GPU Operator,
"GPUDirect RDMA", prerequisites)."""


def _owner(pool: PoolReading) -> Iterator[Inconsistency]:
    if not pool.infiniband or pool.gpu_driver == "none":
        return
    path, owner, gpus = pool.path("gpuDriver"), pool.gpu_driver, pool.size.accelerator
    if gpus is None:
        yield Inconsistency(path, owner, f"must be none: {pool.given.vm_size} has no GPUs; leave it out")
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


def _owned(pool: PoolReading) -> bool:
    """Whether it has GPUs that the GPU Operator makes usable, and somebody owns their driver."""
    gpus = pool.size.accelerator
    return gpus is not None and gpus.software == "gpu-operator" and pool.gpu_driver != "none"


def _one_owner(reading: Reading) -> Iterator[Inconsistency]:
    """Driver, toolkit and runtime class are one for each GPU Operator, and there is one (field reports, A4)."""
    pools = [pool for pool, owned in known(reading.infiniband_pools, _owned) if owned]
    for pool in pools[1:]:
        first = pools[0]
        if pool.gpu_driver != first.gpu_driver:
            yield Inconsistency(
                pool.path("gpuDriver"),
                pool.gpu_driver,
                f"must be {first.gpu_driver}, as pool {first.name} has it: a cluster has one owner of GPU "
                "drivers, and two break the nodes; set gpuDriver of one pool, or none for the GPUs of one of them",
            )


def _one_module(reading: Reading) -> Iterator[Inconsistency]:
    """The operator's driver pods wait for an OFED container on every node, or on none (chart value driver.rdma)."""
    asked = known(reading.infiniband_pools, lambda pool: pool.nic_driver if _owned(pool) else None)
    drivers = [(pool, driver) for pool, driver in asked if driver is not None and pool.gpu_driver == "operator"]
    for pool, driver in drivers[1:]:
        first, wanted = drivers[0]
        if driver != wanted:
            yield Inconsistency(
                pool.path("nicDriver"),
                driver,
                f"must be {wanted}, as pool {first.name} has it: the GPU Operator's drivers wait for "
                "an OFED container on all nodes or on none",
            )


def _gpu_driver_version(reading: Reading) -> Iterator[Inconsistency]:
    version = reading.settings.gpu_operator.driver_version
    if version and all(not pool.infiniband or pool.gpu_driver != "operator" for pool in reading.pools):
        reason = "says nothing: no pool has gpuDriver operator; leave it out"
        yield Inconsistency(("gpuOperator", "driverVersion"), version, reason)


def _nic_driver_version(reading: Reading) -> Iterator[Inconsistency]:
    version = reading.settings.network_operator.driver_version
    if version and all(not pool.infiniband or pool.nic_driver != "doca-ofed" for pool in reading.pools):
        reason = "says nothing: every pool has the inbox driver; leave it out"
        yield Inconsistency(("networkOperator", "driverVersion"), version, reason)


STACK = (_one_owner, _one_module, _gpu_driver_version, _nic_driver_version)
POOL = (_owner,)
