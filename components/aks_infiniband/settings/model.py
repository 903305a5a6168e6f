"""Everything under `aks-infiniband:*` in a stack file, as frozen models; keys in YAML are camelCase."""

from ipaddress import IPv4Network
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from aks_infiniband.catalog import SIZES, MachineSize
from aks_infiniband.settings import rules
from aks_infiniband.versions import VALIDATION_IMAGE

Zone = Annotated[str, AfterValidator(rules.zone)]
Network = Annotated[IPv4Network, BeforeValidator(rules.network), AfterValidator(rules.network_range)]
Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False)]

LARGEST_POOL: Final = 100
"""Machines that one placement group, and so one InfiniBand fabric, takes (Azure, "Scale sets and placement groups")."""


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )


class SystemPoolSettings(_Model):
    """The pool that carries the cluster's own pods and both operators.

    It is as this says when the cluster is made. A later change of it changes nothing, and `pulumi up` warns: Azure
    takes inline pools in one request with all other pools. Its count is changed with `az aks nodepool scale`; for
    another size or zone, add a second system pool with `az aks nodepool add --mode System`, and delete the first.
    """

    vm_size: Annotated[str, AfterValidator(rules.system_size)] = "Standard_D8s_v5"
    """Azure VM size without InfiniBand."""
    count: int = Field(default=2, ge=1, le=1000, strict=True)
    """Number of nodes."""
    zones: tuple[Zone, ...] = ()
    """Availability zones; none means wherever there is capacity."""


class NetworkSettings(_Model):
    """Address ranges (CIDR). Pods sit in an overlay, so only nodes take addresses of the virtual network.

    Set when the cluster is made: Azure refuses to change the ranges of one that exists.
    """

    address_space: Network = IPv4Network("10.224.0.0/12")
    """The virtual network."""
    subnet: Network = IPv4Network("10.224.0.0/16")
    """The nodes' subnet, within addressSpace."""
    pod_cidr: Network = IPv4Network("10.244.0.0/16")
    """The pods' overlay; every node takes a /24 of it."""
    service_cidr: Network = IPv4Network("10.0.0.0/16")
    """The services."""


class ClusterSettings(_Model):
    """The AKS cluster and what it stands in."""

    kubernetes_version: Annotated[str, AfterValidator(rules.kubernetes_version)]
    """Such as "1.34" (AKS picks the patch) or "1.34.2"; quoted, or YAML makes a number of it. A change upgrades the
    control plane and the InfiniBand pools, not the system pool: for that, `az aks nodepool upgrade`."""
    name: Annotated[str, AfterValidator(rules.resource_name)] | None = None
    """Default: the project's and the stack's name. A change replaces the cluster."""
    resource_group: Annotated[str, AfterValidator(rules.resource_group_name)] | None = None
    """Name of the resource group that is made for the cluster. Default: the cluster's name. A change replaces the
    cluster."""
    node_resource_group: Annotated[str, AfterValidator(rules.resource_group_name)] | None = None
    """Name of the resource group in which AKS keeps the machines. Default: AKS's own choice."""
    system_pool: SystemPoolSettings = SystemPoolSettings()
    network: NetworkSettings = NetworkSettings()


class PoolSettings(_Model):
    """One pool of InfiniBand machines. Two pools never share a fabric."""

    name: Annotated[str, AfterValidator(rules.pool_name)]
    """Unique in the cluster."""
    vm_size: Annotated[str, AfterValidator(rules.infiniband_size)]
    """A size of the catalogue. A change replaces the pool."""
    count: int = Field(ge=1, le=LARGEST_POOL, strict=True)
    """Number of nodes."""
    labels: dict[Annotated[str, AfterValidator(rules.label)], Annotated[str, AfterValidator(rules.label_value)]] = (
        Field(default_factory=dict)
    )
    """Further node labels."""
    taints: tuple[Annotated[str, AfterValidator(rules.taint)], ...] = ()
    """As key=value:Effect, one for each key and effect. Everything the program runs on the pool tolerates them."""
    os_disk_size_gb: int | None = Field(default=None, ge=30, le=2048, strict=True)
    """GB of the OS disk. Default: Azure's for the size. A change replaces the pool."""
    zones: Annotated[tuple[Zone, ...], Field(max_length=1)] = ()
    """At most one availability zone: a fabric does not span zones. A change replaces the pool."""

    @property
    def size(self) -> MachineSize:
        """What is plugged into the pool's machines."""
        return SIZES[self.vm_size]


class ChartSettings(_Model):
    """Where an operator's chart comes from; what is left out is NVIDIA's, at the pinned version."""

    name: str | None = Field(default=None, min_length=1)
    """A chart's name in the repository, an oci:// address, or the path of a folder or archive."""
    repository: Annotated[str, AfterValidator(rules.chart_repository)] | None = None
    """URL of the chart repository."""
    version: str | None = Field(default=None, min_length=1)
    """Version of the chart."""


class _OperatorSettings(_Model):
    chart: ChartSettings = ChartSettings()
    values: dict[str, Any] = Field(default_factory=dict)
    """Helm values of this stack, over those of the file. What the program derives cannot be contradicted."""


class NetworkOperatorSettings(_OperatorSettings):
    """NVIDIA Network Operator."""

    mode: Literal["rdma-shared"] = "rdma-shared"
    """How pods get InfiniBand: rdma-shared lets up to 63 pods of a node share all its HCAs."""
    values_file: str | None = "values/network-operator.yaml"
    """Helm values that all stacks share; a path relative to the project."""


class GpuOperatorSettings(_OperatorSettings):
    """NVIDIA GPU Operator; installed only where a pool has NVIDIA GPUs."""

    values_file: str | None = "values/gpu-operator.yaml"
    """Helm values that all stacks share; a path relative to the project."""


class Readiness(_Model):
    """How long is waited, and how closely looked, for what Azure and the operators report."""

    poll_seconds: Seconds = Field(default=10, gt=0)
    """Seconds between two looks."""
    stable_seconds: Seconds = Field(default=30, ge=0)
    """Seconds for which all nodes must offer their resources before they are believed."""
    timeout_seconds: Seconds = Field(default=2700, gt=0)
    """Limit of every wait. Default: registering the feature takes about 10 minutes, a pool 6, the driver of a slow
    node 19, one after the other (field reports, B5); and some reserve."""


class ValidationSettings(_Model):
    """The check at the end of `pulumi up`."""

    mode: Literal["enforce", "warn", "off"] = "enforce"
    """enforce: a failed check fails the update; warn: it is reported; off: nothing is checked."""
    image: str = Field(default=VALIDATION_IMAGE, min_length=1)
    """Image with Python 3 for the validation's pods."""
    timeout_seconds: Seconds = Field(default=1800, gt=0)
    """Limit of one pool's check once its nodes are ready; the Job, which first awaits them for up to
    readiness.timeout_seconds, is waited for as long as both together."""


class Settings(_Model):
    """Everything that a stack file says."""

    location: Annotated[str, Field(min_length=1)]
    """Azure region: the stack's `azure-native:location`."""
    cluster: ClusterSettings
    pools: Annotated[tuple[PoolSettings, ...], Field(min_length=1)]
    network_operator: NetworkOperatorSettings = NetworkOperatorSettings()
    gpu_operator: GpuOperatorSettings = GpuOperatorSettings()
    readiness: Readiness = Readiness()
    validation: ValidationSettings = ValidationSettings()
