"""Settings of the node pools, and of machine sizes that the catalogue does not know."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from aks_infiniband.azure.arguments import AutoscaleBounds, OsDiskType, Priority
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import DiskGb, MaxPods, Nodes
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import (
    Architecture,
    GpuDevicePlugin,
    GpuDirect,
    GpuDriver,
    LinkGeneration,
    Mode,
    NicDriver,
    OsSku,
)
from aks_infiniband.facts.rules import Labels, Text, Zone
from aks_infiniband.handwritten.section import Section

_SIZE: Final = {"anyOf": [{"enum": list(SIZES)}, {"type": "string", "pattern": rules.vm_size.whole}]}
"""For editors: the catalogue's sizes, or any other."""
MOST_LABELS: Final = 100
"""Of a pool. How many Azure takes is not documented; that it refuses hundreds is assumed."""
OwnLabels = dict[Annotated[str, rules.label_key, AfterValidator(rules.label)], Annotated[str, rules.label_value]]
"""Labels that a pool may give its nodes."""


class PoolSettings(Section):
    """One pool of machines. Two pools never share a fabric."""

    name: Annotated[str, rules.pool_name]
    """Unique in the cluster."""
    vm_size: Annotated[str, rules.vm_size, WithJsonSchema(_SIZE)]
    """A size of the catalogue, or one that `sizes` describes. A change replaces the pool."""
    count: Nodes = Field(strict=True)
    """Number of nodes, 100 at most with InfiniBand."""
    kubernetes_version: Annotated[str, rules.version, AfterValidator(rules.kubernetes_version)] | None = None
    """Version of its nodes while it is behind the cluster's, by three minor versions at most. `aks-infiniband upgrade`
    writes and removes it. Default: the cluster's."""
    infiniband: bool = Field(default=True, strict=True)
    """False for a pool of ordinary machines beside the others: any size without InfiniBand."""
    mode: Mode | None = None
    """How pods get InfiniBand. Default: the network operator's mode."""
    nic_driver: NicDriver | None = None
    """Whose mlx5 driver: doca-ofed or inbox. Default: the network operator's."""
    gpu_driver: GpuDriver | None = None
    """Who owns the GPUs' driver. operator: NVIDIA's, or AMD's, GPU Operator. aks: AKS, for NVIDIA's GPUs. image:
    whoever made the node image, for AMD's and for GB200 and GB300. none: nobody we know of, and GPUs are not offered to
    pods. Default: operator for NVIDIA's GPUs, none for AMD's and for sizes without GPUs. A change replaces the pool,
    but for one between operator and image."""
    gpu_device_plugin: GpuDevicePlugin | None = None
    """Who runs the device plugin that offers NVIDIA's GPUs to pods. operator: the GPU Operator. image: a service of the
    node image that has the driver too. Default: as gpuDriver says."""
    gpu_direct: Literal[GpuDirect, "auto"] | None = None
    """How HCAs reach the memory of GPUs (GPUDirect RDMA). dmabuf: through the kernel, so the GPU driver does not wait
    for OFED. nvidia-peermem: through a module that the GPU driver builds against OFED. auto: nvidia-peermem for V100,
    which has no DMA-BUF, and dmabuf for every other GPU; new clusters should choose it. Default: nvidia-peermem with
    doca-ofed, dmabuf with inbox. A change restarts the GPU driver, node by node."""
    ipoib_devices: tuple[Annotated[str, rules.interface_name], ...] = ()
    """Parent interfaces of the IPoIB networks, one for each rail. Default: the catalogue's first for the size."""
    nccl_topology: Text | None = None
    """Path of an NCCL topology file, relative to the project. Default: generated from the catalogue."""
    autoscale: AutoscaleBounds | None = None
    """Bounds of the cluster autoscaler. Default: the pool keeps its count."""
    labels: OwnLabels = Field(default_factory=dict, max_length=MOST_LABELS)
    """Further node labels."""
    node_selector: Labels = Field(default_factory=dict)
    """In an existing cluster: labels that the pool's nodes, and no others, carry."""
    taints: tuple[Annotated[str, rules.taint, AfterValidator(rules.own_taint)], ...] = ()
    """As key=value:Effect, one for each key and effect. Everything the program runs on the pool tolerates them."""
    max_pods: MaxPods | None = Field(default=None, strict=True)
    """Pods that a node takes, of which the operators and this program take up to 30. Default: Azure's, 250 with the
    overlay and 110 with a podSubnetId. A change replaces the pool."""
    os_sku: OsSku | None = None
    """The system of the nodes. Default: Ubuntu, which is 24.04 from Kubernetes 1.35 on and 22.04 before. AzureLinux
    and AzureLinux3 are Azure Linux 3, up to Kubernetes 1.36 and on sizes without GPUs, with V100 or with A100. NVIDIA
    lists no image of DOCA-OFED and no GPU driver of its operator for Azure Linux, so both are unproven there. A change
    replaces the pool."""
    os_disk_size_gb: DiskGb | None = Field(default=None, strict=True)
    """GB of the OS disk. Default: Azure's for the size. A change replaces the pool."""
    os_disk_type: OsDiskType | None = None
    """Where the OS disk lies. Default: Azure chooses by the size. A change replaces the pool."""
    images: tuple[Annotated[str, rules.image], ...] = ()
    """Images of the pool's workloads. Each must contain a shell. The nodes pull them while their drivers are installed,
    after the images of the validation."""
    node_image_snapshot_id: Annotated[str, rules.snapshot_id] | None = None
    """A node pool snapshot whose node image the pool gets. Default: the newest image of the OS SKU."""
    capacity_reservation_group_id: Annotated[str, rules.capacity_reservation_group_id] | None = None
    """A capacity reservation group that has room for the pool. Only a pool with infiniband: false may name one, because
    Azure reserves neither placement groups nor ND, HB and HC sizes. The cluster's identity needs the role Contributor
    on the group: an existing one (cluster.identityId), or the one that an earlier update has made; AKS may take 60
    minutes to see a role that was just given. A change replaces the pool."""
    priority: Priority = "Regular"
    """Spot only for pools without InfiniBand: an eviction takes one machine out of a job that spans all of them."""
    zones: tuple[Zone, ...] = ()
    """At most one availability zone for an InfiniBand pool: a fabric does not span zones. A change replaces the
    pool."""


class DescribedInfiniband(Section):
    """The InfiniBand adapters of a described size."""

    hca_count: int = Field(ge=1, le=16, strict=True)
    """HCAs of one machine, each with one port."""
    generation: LinkGeneration
    """Of the links."""
    rate_gbps: int | None = Field(default=None, ge=1, le=10_000, strict=True)
    """Signalling rate of one port in Gb/s. Default: the generation's."""
    adapter: Literal["ConnectX-5", "ConnectX-6", "ConnectX-7", "ConnectX-8"]
    """The PCI device ID follows from it."""
    vf_device_id: Annotated[str, rules.pci_id] | None = None
    """PCI device ID of the virtual function. Default: the adapter's."""


class DescribedAccelerator(Section):
    """The GPUs of a described size."""

    vendor: Literal["nvidia", "amd"]
    """Their maker."""
    model: Annotated[str, rules.word]
    """Such as B200."""
    count: int = Field(ge=1, le=16, strict=True)
    """GPUs of one machine."""
    memory_gb: int = Field(ge=1, le=10_000, strict=True)
    """Memory of one GPU, in GB as its vendor states it."""


class DescribedSize(Section):
    """A machine size that the catalogue does not know, in the catalogue's terms.

    ```yaml
    aks-infiniband:sizes:
      Standard_ND128isr_B300_v7:
        vcpus: 128
        memoryGib: 2048
        series: ND_B300_v7
        infiniband: {hcaCount: 8, generation: XDR, adapter: ConnectX-8}
        accelerator: {vendor: nvidia, model: B300, count: 8, memoryGb: 288}
    ```
    """

    vcpus: int = Field(ge=1, le=4096, strict=True)
    """Virtual CPUs of one machine."""
    memory_gib: int = Field(ge=1, le=100_000, strict=True)
    """Memory of one machine, in GiB."""
    series: Annotated[str, rules.word]
    """The family whose vCPU quota the size counts against."""
    infiniband: DescribedInfiniband
    """Its InfiniBand adapters."""
    accelerator: DescribedAccelerator | None = None
    """Its GPUs. Default: none."""
    architecture: Architecture = "amd64"
    """Of its processors."""
    placement_feature: bool = Field(default=True, strict=True)
    """Whether AKSInfinibandSupport must be registered (true) or must not be (false)."""
