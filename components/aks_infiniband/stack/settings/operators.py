"""Settings of the two operators, of the source of charts and images, of workloads, and of monitoring."""

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from aks_infiniband.facts import ranges, rules
from aks_infiniband.facts.bounds import PerNode, Rails
from aks_infiniband.facts.catalog.machine import Mode, NicDriver
from aks_infiniband.facts.modes import DEFAULT_MODE
from aks_infiniband.facts.pool import DEFAULT_RAILS
from aks_infiniband.facts.ranges import Network
from aks_infiniband.facts.rules import Labels, Text
from aks_infiniband.handwritten.section import Section
from aks_infiniband.observability.documents import Prometheus
from aks_infiniband.operators.release import DriverUpgrade
from aks_infiniband.workload.scheduling import MOST_LEVELS, Scheduler


class ChartSettings(Section):
    """The source of an operator's chart. Keys that are left out stand for NVIDIA's chart at the pinned version."""

    name: Annotated[str, rules.chart_name] | None = None
    """A chart's name in the repository, an oci:// address, or the path of a folder or archive."""
    repository: Annotated[str, rules.chart_repository] | None = None
    """URL of the chart repository."""
    version: Annotated[str, rules.chart_version] | None = None
    """Version of the chart."""


class _OperatorSettings(Section):
    chart: ChartSettings = ChartSettings()
    values: dict[str, Any] = Field(default_factory=dict)
    """Helm values of this stack, over those of the file. Values that the program derives cannot be contradicted."""


class IpoibSettings(Section):
    """Addresses of the IPoIB networks, given out by NV-IPAM."""

    range: Network = IPv4Network("192.168.0.0/16")
    """Addresses for the pods' interfaces, outside every range of the cluster. With several networks, each takes an
    equal part of it.
    """
    addresses_per_node: PerNode = Field(default=16, strict=True)
    """Pods with such an interface that one node takes; NV-IPAM gives every node a block of so many."""
    gateway: Annotated[IPv4Address, BeforeValidator(ranges.address)] | None = None
    """A router in the range, for what is beyond it. Default: none, the fabric is one subnet."""
    rails: Rails = Field(default=DEFAULT_RAILS, strict=True)
    """IPoIB networks a pod joins, each on another HCA: net1, net2, …"""


class NetworkOperatorSettings(_OperatorSettings):
    """NVIDIA Network Operator."""

    existing: bool = Field(default=False, strict=True)
    """True: an existing cluster has a Network Operator, with its Node Feature Discovery, that others keep. Then none is
    installed, and no policy is made. The policies that are there, and the labels of the nodes, are read: if they do not
    suit the pools, nothing is made, and `up` names what is missing with the object to apply. mode and driver then say
    what the cluster has.
    """
    mode: Mode = DEFAULT_MODE
    """The way in which pods get InfiniBand. rdma-shared: up to 63 pods of a node share all its HCAs. sriov: a pod holds
    HCAs for itself. ipoib: rdma-shared, and a network interface net1 for programs that speak TCP/IP only. dra: a pod
    claims HCAs for itself (Dynamic Resource Allocation), which dranet hands out; needs driver inbox. driver-only: only
    the driver; pods are privileged and mount /dev/infiniband.
    """
    driver: NicDriver | None = None
    """doca-ofed: NVIDIA's driver, in a container on every node. inbox: the one that the node image brings, which is
    that of Ubuntu 24.04's kernel, and in an image for GB200 and GB300 DOCA-OFED. Default: inbox on these sizes, else
    doca-ofed."""
    driver_version: Annotated[str, rules.image_tag] | None = None
    """Version of the DOCA driver image. Default: the one that the operator's release was tested with. A change rolls
    through the nodes as `upgrade` says."""
    upgrade: DriverUpgrade = DriverUpgrade()
    ipoib: IpoibSettings = IpoibSettings()
    node_preparation: bool = Field(default=False, strict=True)
    """A DaemonSet that loads ib_umad and rdma_ucm and lifts the memlock limit of containerd and kubelet, so that pods
    that do not run as root can register memory too."""
    values_file: Text | None = "values/network-operator.yaml"
    """Helm values that all stacks share; a path relative to the project. The default one may be missing."""


class GpuOperatorSettings(_OperatorSettings):
    """NVIDIA GPU Operator; installed only if a pool has NVIDIA GPUs whose driver it or AKS owns."""

    existing: bool = Field(default=False, strict=True)
    """True: an existing cluster has a GPU Operator, with its Node Feature Discovery, that others keep. Then none is
    installed, pods request its GPUs, and its ClusterPolicy is read: if that does not suit the pools, nothing is made,
    and the validation waits until it is ready. gpuDriver then says who owns the driver there.
    """
    driver_version: Annotated[str, rules.image_tag] | None = None
    """Version of the GPU driver image if the operator owns the driver. Default: the chart's."""
    accept_visible_devices_envvar: bool = Field(default=False, strict=True)
    """True: a container without privileges that requests no GPU gets GPUs by NVIDIA_VISIBLE_DEVICES, which every CUDA
    image sets to all. Schedulers that share GPUs by that variable need it (docs/workloads.md). The setting holds if the
    operator or AKS owns the driver.
    """
    values_file: Text | None = "values/gpu-operator.yaml"
    """Helm values that all stacks share; a path relative to the project. The default one may be missing."""


class AmdGpuOperatorSettings(_OperatorSettings):
    """AMD's GPU Operator; installed only if a pool has GPUs of AMD whose driver it or the node image owns."""

    driver_image: Annotated[str, rules.image_repository] | None = None
    """With gpuDriver operator: the repository, without a tag, to which the driver is pushed once it is built in the
    cluster, and from which nodes pull it. Needed then; the secret `registryCredentials`, if it is given, must be
    allowed to push there.
    """
    driver_version: Annotated[str, rules.image_tag] | None = None
    """Version of amdgpu with gpuDriver operator. Default: 30.20.1."""
    remediation: bool = Field(default=False, strict=True)
    """True: the chart brings Argo's workflow controller, with which the operator reboots and tests sick nodes once
    deviceConfig names a remediationWorkflow. AMD supports that on bare metal only.
    """
    device_config: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each pool's DeviceConfig, under its spec. Values that the program derives cannot be
    contradicted.
    """


class CertManagerSettings(_OperatorSettings):
    """cert-manager; installed only if AMD's operator builds the driver."""

    existing: bool | None = Field(default=None, strict=True)
    """True: the cluster has a cert-manager that others keep; then none is installed. Default: true in an existing
    cluster.
    """


class DraDriverSettings(_OperatorSettings):
    """NVIDIA's DRA driver for GPUs; installed only if a pool's machines share an NVLink domain (GB200, GB300), for
    ComputeDomains alone.
    """


class RegistrySettings(Section):
    """The source of images and charts, instead of the internet. Credentials, if the registry requires them, are the
    secret `aks-infiniband:registryCredentials`.
    """

    images: Annotated[str, rules.image_registry] | None = None
    """Registry, with a path or without, that mirrors every image under the path it has at its source:
    nvcr.io/nvidia/x becomes IMAGES/nvidia/x."""
    charts: Annotated[str, rules.chart_location] | None = None
    """Chart repository (https://) or registry (oci://) that has both operators' charts under their own names. If a
    registry requires a login, log in with `helm registry login` (pulumi-kubernetes #1914) on the machine of `pulumi
    up`.
    """


class WorkloadNamespaces(Section):
    """The namespaces in which workloads find their settings."""

    namespaces: tuple[Annotated[str, rules.namespace], ...] = ()
    """Namespaces that get the ConfigMaps in addition to aks-infiniband, which the program makes. If the cluster lacks
    one, nothing is made in it.
    """
    create_namespaces: bool = Field(default=False, strict=True)
    """True: the program makes those that are missing. None is ever deleted: what is in them is not the program's."""
    registry_credentials: bool = Field(default=False, strict=True)
    """True: all of these get the registry's credentials too, with which their pods pull. Every user who may edit
    workloads there can read them.
    """


class ObservabilitySettings(Section):
    """InfiniBand and GPUs in a Prometheus and a Grafana that are there already, see docs/observability.md."""

    prometheus: Prometheus
    """The Prometheus that reads the metrics; its definitions must be in the cluster before. kube-prometheus: the
    Prometheus Operator's. azure: Azure Managed Prometheus, which takes no alerts from a cluster.
    """
    workspace_id: Annotated[str, rules.workspace_id] | None = None
    """The Azure Monitor workspace with the metrics of a cluster that is made: alerts are made there. Default: none."""
    labels: Labels = Field(default_factory=dict)
    """Labels by which that Prometheus selects monitors and rules; of the chart kube-prometheus-stack, `release` with
    the release's name."""


def _counting_up(schedule: str) -> str:
    """A schedule that the API server takes."""
    if any(int(first) > int(last) for first, last in re.findall(r"(\d+)-(\d+)", schedule)):
        raise ValueError("must not have a range that counts down, such as 5-1")
    return schedule


class LightCheckSettings(Section):
    """A check of idle nodes on a schedule, and when a node joined, restarted or shows a fault: links, error counters,
    and the bandwidth of RDMA writes. A workload takes a node from it at once; in mode dra it waits for the end of the
    run. Not for mode driver-only.
    """

    schedule: Annotated[str, rules.schedule, AfterValidator(_counting_up)]
    """When it runs, in cron's five fields, by the control plane's clock (UTC on AKS): 17 * * * * is hourly."""


class SchedulerTopologySettings(Section):
    """Objects that describe each pool with InfiniBand to a scheduler of jobs, see docs/scheduling.md."""

    scheduler: Scheduler
    """The scheduler that places jobs; its definitions must be in the cluster before. kueue: a Topology and a
    ResourceFlavor for each pool. volcano: a HyperNode for each pool.
    """
    levels: tuple[Annotated[str, rules.label_key], ...] = Field(default=(), max_length=MOST_LEVELS)
    """With kueue, labels of the nodes for what is nearer than the fabric, such as a switch or a rack, the widest first.
    You or another program sets them, and every node of the pools must have them: Kueue gives others no jobs. Default:
    none, because Azure does not report switches.
    """
