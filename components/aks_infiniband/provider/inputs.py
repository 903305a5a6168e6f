"""What several components take, as a schema can describe it: no union, enumerations in place of literals."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import Chart
from aks_infiniband.operators.charts import ChartSource, chart_source, there


class Mode(StrEnum):
    """The way in which pods get InfiniBand."""

    RDMA_SHARED = "rdma-shared"
    SRIOV = "sriov"
    IPOIB = "ipoib"
    DRA = "dra"
    DRIVER_ONLY = "driver-only"


class NicDriver(StrEnum):
    """Whose driver of the InfiniBand adapters the nodes run."""

    DOCA_OFED = "doca-ofed"
    INBOX = "inbox"


class GpuDriver(StrEnum):
    """Who installs the driver of the GPUs."""

    OPERATOR = "operator"
    AKS = "aks"
    IMAGE = "image"
    NONE = "none"


class GpuDevicePlugin(StrEnum):
    """Who runs the device plugin of the GPUs."""

    OPERATOR = "operator"
    IMAGE = "image"


class GpuDirect(StrEnum):
    """How InfiniBand adapters reach the memory of GPUs."""

    DMABUF = "dmabuf"
    NVIDIA_PEERMEM = "nvidia-peermem"


class PoolDescription(TypedDict):
    """One pool of InfiniBand machines. Describe it once, and give it to every component that serves the pool."""

    name: str
    """Name of the pool: 1 to 12 lower-case letters and digits, a letter first."""
    vm_size: str
    """Azure VM size with InfiniBand, such as Standard_ND96isr_H100_v5."""
    count: int
    """Number of nodes."""
    mode: NotRequired[Mode]
    """How pods get InfiniBand. Default: rdma-shared."""
    nic_driver: NotRequired[NicDriver]
    """Whose mlx5 driver the nodes run. Default: that of the size."""
    gpu_driver: NotRequired[GpuDriver]
    """Who owns the driver of the GPUs. Default: that of the size."""
    gpu_device_plugin: NotRequired[GpuDevicePlugin]
    """Who runs the device plugin of the GPUs. Default: the node image where it has the driver, else the operator."""
    gpu_direct: NotRequired[GpuDirect]
    """How adapters reach the memory of GPUs. Default: nvidia-peermem beside doca-ofed, else dmabuf."""
    taints: NotRequired[list[str]]
    """As key=value:Effect. Everything that is put on the pool tolerates them."""
    node_selector: NotRequired[dict[str, str]]
    """Labels that the nodes of the pool carry, and no others. Default: AKS's own label of the pool."""


class ChartDescription(TypedDict):
    """A Helm chart from another place than NVIDIA's repository. What is left out stays NVIDIA's."""

    name: NotRequired[str]
    """Its name in the repository, an oci:// address, or a path."""
    repository: NotRequired[str]
    """URL of the repository."""
    version: NotRequired[str]
    """Its version."""


def pool_of(given: PoolDescription) -> Pool:
    """The pool that is described. Raises ValueError that names key, value and what is allowed."""
    size = SIZES.get(given["vm_size"])
    if size is None:
        raise ValueError(f"pool {given['name']}: vmSize is {given['vm_size']}; must be one of {', '.join(SIZES)}")
    chosen: dict[str, Any] = {key: str(given[key]) for key in ("mode", "gpu_direct") if key in given}
    return Pool(
        name=given["name"],
        size=size,
        node_count=whole_numbers(given["count"]),
        nic_driver=_literal(given.get("nic_driver"), size.default_nic_driver),
        gpu_driver=_literal(given.get("gpu_driver"), size.default_gpu_driver),
        gpu_device_plugin=_literal(given.get("gpu_device_plugin"), None),
        taints=tuple(given.get("taints", ())),
        node_selector=given.get("node_selector", {}),
        **chosen,
    )


def _literal(given: StrEnum | None, default: Any) -> Any:
    return default if given is None else str(given)


def pools_of(given: Iterable[PoolDescription]) -> list[Pool]:
    """The pools that are described. Raises ValueError as `pool_of`, and where there is none."""
    found = list(map(pool_of, given))
    if not found:
        raise ValueError("pools is empty; give one pool at least")
    return found


def chart_of(given: Mapping[str, Any] | None, default: Chart) -> ChartSource:
    """The chart that is described. Raises ValueError for a path where there is none."""
    return there(chart_source(default, **(given or {})))


def whole_numbers(value: Any) -> Any:
    """A document with its whole numbers as int: Pulumi hands every number over as a float."""
    if isinstance(value, Mapping):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def told_by_a_resource(value: Any) -> bool:
    """Whether any part of a value comes from another resource, or is a secret."""
    if isinstance(value, Mapping):
        return any(map(told_by_a_resource, value.values()))
    if isinstance(value, list | tuple):
        return any(map(told_by_a_resource, value))
    return isinstance(value, pulumi.Output)
