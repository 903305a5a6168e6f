"""Settings of the two operators, of where charts and images come from, of waits, checks and observability."""

import re
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from aks_infiniband.facts.bounds import (
    DrainSeconds,
    Limit,
    PerNode,
    PollSeconds,
    StableSeconds,
    TimeoutSeconds,
    Tries,
)
from aks_infiniband.facts.catalog.machine import Mode, NicDriver
from aks_infiniband.observability.documents import Prometheus
from aks_infiniband.resources.options import TIMEOUT_SECONDS
from aks_infiniband.stack.settings import ranges, rules
from aks_infiniband.stack.settings.base import Labels, Network, Section, Text


def _seconds(default: float) -> Any:
    return Field(default=default, strict=True, allow_inf_nan=False)


class ChartSettings(Section):
    """Where an operator's chart comes from; what is left out is NVIDIA's, at the pinned version."""

    name: Annotated[str, rules.chart_name] | None = None
    """A chart's name in the repository, an oci:// address, or the path of a folder or archive."""
    repository: Annotated[str, rules.chart_repository] | None = None
    """URL of the chart repository."""
    version: Annotated[str, rules.chart_version] | None = None
    """Version of the chart."""


class _OperatorSettings(Section):
    chart: ChartSettings = ChartSettings()
    values: dict[str, Any] = Field(default_factory=dict)
    """Helm values of this stack, over those of the file. What the program derives cannot be contradicted."""


class IpoibSettings(Section):
    """Addresses of the IPoIB networks, given out by NV-IPAM."""

    range: Network = IPv4Network("192.168.0.0/16")
    """Addresses for the pods' interfaces, apart from every range of the cluster's. With several networks, each takes
    an equal part of it."""
    addresses_per_node: PerNode = Field(default=16, strict=True)
    """Pods with such an interface that one node takes; NV-IPAM gives every node a block of so many."""
    gateway: Annotated[IPv4Address, BeforeValidator(ranges.address)] | None = None
    """A router in the range, for what is beyond it. Default: none, the fabric is one subnet."""
    rails: int = Field(default=1, ge=1, le=16, strict=True)
    """IPoIB networks a pod joins, each on an HCA of its own: net1, net2, …"""


class UpgradeSettings(Section):
    """How a changed driver reaches the nodes: one at a time, each drained first."""

    automatic: bool = Field(default=True, strict=True)
    """Whether a changed driver version rolls out by itself. Off, a node gets it when its driver pod is deleted."""
    drain_timeout_seconds: DrainSeconds = Field(default=300, strict=True)
    """How long pods may take to leave a node; 0 waits for as long as they need."""


class NetworkOperatorSettings(_OperatorSettings):
    """NVIDIA Network Operator."""

    mode: Mode = "rdma-shared"
    """How pods get InfiniBand. rdma-shared: up to 63 pods of a node share all its HCAs. sriov: a pod holds HCAs for
    itself. ipoib: rdma-shared, and a network interface net1 for programs that speak TCP/IP only. driver-only: nothing
    but the driver; pods are privileged and mount /dev/infiniband."""
    driver: NicDriver | None = None
    """doca-ofed: NVIDIA's driver, in a container on every node. inbox: the one that the node image brings, which is
    that of Ubuntu 24.04's kernel, and on GB200 and GB300 DOCA-OFED. Default: inbox there, else doca-ofed."""
    driver_version: Annotated[str, rules.image_tag] | None = None
    """Version of the DOCA driver image. Default: the one that the operator's release was tested with. A change rolls
    through the nodes as `upgrade` says."""
    upgrade: UpgradeSettings = UpgradeSettings()
    ipoib: IpoibSettings = IpoibSettings()
    node_preparation: bool = Field(default=False, strict=True)
    """A DaemonSet that loads ib_umad and rdma_ucm and lifts the memlock limit of containerd and kubelet, so that pods
    that do not run as root can register memory too."""
    values_file: Text | None = "values/network-operator.yaml"
    """Helm values that all stacks share; a path relative to the project."""


class GpuOperatorSettings(_OperatorSettings):
    """NVIDIA GPU Operator; installed only where a pool has NVIDIA GPUs whose driver it or AKS owns."""

    existing: bool = Field(default=False, strict=True)
    """Whether an existing cluster has a GPU Operator, with its Node Feature Discovery, that somebody else keeps. Then
    none is installed, pods ask for its GPUs, and its ClusterPolicy is read: where that does not suit the pools, nothing
    is made, and the validation waits until it is ready. gpuDriver then says who owns the driver there."""
    driver_version: Annotated[str, rules.image_tag] | None = None
    """Version of the GPU driver image where the operator owns the driver. Default: the chart's."""
    values_file: Text | None = "values/gpu-operator.yaml"
    """Helm values that all stacks share; a path relative to the project."""


class RegistrySettings(Section):
    """Where images and charts come from instead of the internet. Credentials, where the registry asks for them, are
    the secret `aks-infiniband:registryCredentials`.
    """

    images: Annotated[str, rules.image_registry] | None = None
    """Registry, with a path or without, that mirrors every image under the path it has at its source:
    nvcr.io/nvidia/x becomes IMAGES/nvidia/x."""
    charts: Annotated[str, rules.chart_location] | None = None
    """Chart repository (https://) or registry (oci://) that has both operators' charts under their own names. A
    registry that wants a login gets it where `pulumi up` runs, by `helm registry login` (pulumi-kubernetes #1914)."""


class WorkloadNamespaces(Section):
    """Where workloads find their settings."""

    namespaces: tuple[Annotated[str, rules.namespace], ...] = ()
    """Namespaces that get the ConfigMaps too, beside aks-infiniband, which the program makes. Where the cluster lacks
    one, nothing is made in it."""
    create_namespaces: bool = Field(default=False, strict=True)
    """Whether those that are missing are made. None is ever deleted: what is in them is not the program's."""
    registry_credentials: bool = Field(default=False, strict=True)
    """Whether all of these get the registry's credentials too, with which their pods pull. Whoever may edit workloads
    there can read them."""


class Readiness(Section):
    """How long is waited, and how closely looked, for what Azure and the operators report."""

    poll_seconds: PollSeconds = _seconds(10)
    """Seconds between two looks."""
    stable_seconds: StableSeconds = _seconds(30)
    """Seconds for which all nodes must offer their resources before they are believed."""
    timeout_seconds: TimeoutSeconds = _seconds(TIMEOUT_SECONDS)
    """Limit of every wait. Default: registering the feature takes about 10 minutes, a pool 6, the driver of a slow
    node 19, one after the other (field reports, B5); and some reserve."""


class ObservabilitySettings(Section):
    """InfiniBand and GPUs in a Prometheus and a Grafana that are there already, see docs/observability.md."""

    prometheus: Prometheus
    """Whose Prometheus reads the metrics; its definitions must be in the cluster before. kube-prometheus: the
    Prometheus Operator's. azure: Azure Managed Prometheus, which takes no alerts from a cluster."""
    workspace_id: Annotated[str, rules.workspace_id] | None = None
    """The Azure Monitor workspace with the metrics of a cluster that is made: alerts are made there. Default: none."""
    labels: Labels = Field(default_factory=dict)
    """Labels by which that Prometheus selects monitors and rules; of the chart kube-prometheus-stack, `release` with
    the release's name."""


class ThresholdSettings(Section):
    """Bounds of one measured figure, in its unit."""

    warn: Limit | None = Field(default=None, strict=True, allow_inf_nan=False)
    """A result worse than this is warned of."""
    fail: Limit | None = Field(default=None, strict=True, allow_inf_nan=False)
    """A result worse than this fails."""


class ValidationSettings(Section):
    """The check at the end of `pulumi up`."""

    mode: Literal["enforce", "warn", "off"] = "enforce"
    """enforce: a failed check fails the update; warn: it is reported; off: nothing is checked."""
    image: Annotated[str, rules.image] | None = None
    """Image with Python 3, and for pools with GPUs NCCL and the CUDA runtime, or PyTorch. RDMA tools that it lacks, and
    in the default image for GPUs Python, are installed at start from the distribution's packages: where nodes do not
    reach them, name one that has it all. Default: by pool, see docs/validation.md."""
    timeout_seconds: TimeoutSeconds = _seconds(1800)
    """Limit of one pool's check once its nodes are ready; the Job, which first awaits them for up to
    readiness.timeoutSeconds, is waited for as long as both together."""
    tries: Tries = Field(default=3, strict=True)
    """How often a measurement that fails is made in all."""
    sweep: Literal["short", "full"] = "short"
    """Message sizes of the all-reduce. short: five, up to the one that is judged; full: 8 B to 16 GiB by twos, a few
    minutes more."""
    all_reduce: Literal["nccl", "pytorch"] = "nccl"
    """What all-reduce is measured through. nccl: NCCL itself (on AMD GPUs RCCL); pytorch: PyTorch's distributed package
    over it, with what a training job adds to small messages."""
    error_counters: Literal["enforce", "warn", "off"] = "warn"
    """What becomes of a pool whose ports' error counters cannot be read, and of a node in the scheduled check.
    enforce: it fails; warn: that is reported, since all that was measured was met; off: they are not looked at, and
    pods mount nothing of the machine's /sys, for clusters whose policies allow no hostPath."""
    thresholds: dict[Text, ThresholdSettings] = Field(default_factory=dict)
    """Bounds that replace the catalogue's for every pool of the stack, by figure, such as rdma-write-bandwidth."""


def _counting_up(schedule: str) -> str:
    """A schedule that the API server takes."""
    if any(int(first) > int(last) for first, last in re.findall(r"(\d+)-(\d+)", schedule)):
        raise ValueError("must have no range that counts down, such as 5-1")
    return schedule


class LightCheckSettings(Section):
    """A check of idle nodes on a schedule, for pools of every mode but driver-only: links, error counters, and the
    bandwidth of RDMA writes. A workload takes a node from it at once.
    """

    schedule: Annotated[str, rules.schedule, AfterValidator(_counting_up)]
    """When it runs, in cron's five fields, by the control plane's clock (UTC on AKS): 17 * * * * is hourly."""
