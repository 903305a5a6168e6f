"""The library's literals as enumerations, which a schema can describe. `described` finds each by its values."""

from enum import StrEnum


class Mode(StrEnum):
    """The way in which pods get InfiniBand."""

    RDMA_SHARED = "rdma-shared"
    SRIOV = "sriov"
    IPOIB = "ipoib"
    DRA = "dra"
    DRIVER_ONLY = "driver-only"


class NicDriver(StrEnum):
    """Owner of the InfiniBand adapters' driver on the nodes."""

    DOCA_OFED = "doca-ofed"
    INBOX = "inbox"


class GpuDriver(StrEnum):
    """Owner of the GPUs' driver."""

    OPERATOR = "operator"
    AKS = "aks"
    IMAGE = "image"
    NONE = "none"


class GpuDevicePlugin(StrEnum):
    """Owner of the GPUs' device plugin."""

    OPERATOR = "operator"
    IMAGE = "image"


class GpuDirect(StrEnum):
    """The way from InfiniBand adapters to the memory of GPUs."""

    DMABUF = "dmabuf"
    NVIDIA_PEERMEM = "nvidia-peermem"
    AUTO = "auto"


class Admission(StrEnum):
    """When pods may come to a node that joined, was repaired or restarted."""

    AT_ONCE = "at-once"
    MEASURED = "measured"
    MEASURED_OR_LATE = "measured-or-late"


class Maintenance(StrEnum):
    """Treatment of the pods of a node for which Azure has announced maintenance."""

    KEEP = "keep"
    ANNOUNCE = "announce"
    DRAIN = "drain"
    DRAIN_FREEZE = "drain-freeze"


class OperatorRelease(StrEnum):
    """NVIDIA's two operators, and all that they bring. A release is called as the Network Operator's."""

    V26_4 = "26.4"
    V26_7 = "26.7"


class SupportPlan(StrEnum):
    """Length of AKS's support for a version of Kubernetes: as the community does, or a year longer."""

    KUBERNETES_OFFICIAL = "KubernetesOfficial"
    AKS_LONG_TERM_SUPPORT = "AKSLongTermSupport"


class OutboundType(StrEnum):
    """The way of nodes to the internet."""

    LOAD_BALANCER = "loadBalancer"
    USER_ASSIGNED_NAT_GATEWAY = "userAssignedNATGateway"
    USER_DEFINED_ROUTING = "userDefinedRouting"
    NONE = "none"


class Login(StrEnum):
    """The login method of kubelogin. None of these methods is interactive."""

    AZURECLI = "azurecli"
    SPN = "spn"
    MSI = "msi"
    WORKLOADIDENTITY = "workloadidentity"


class OsSku(StrEnum):
    """The system of the nodes."""

    UBUNTU = "Ubuntu"
    UBUNTU2204 = "Ubuntu2204"
    AZURE_LINUX = "AzureLinux"
    AZURE_LINUX3 = "AzureLinux3"


class OsDiskType(StrEnum):
    """The place of the OS disk."""

    MANAGED = "Managed"
    EPHEMERAL = "Ephemeral"


class Priority(StrEnum):
    """Spot: Azure may take the machines back at any time, for which they are cheaper."""

    REGULAR = "Regular"
    SPOT = "Spot"


class ValidationMode(StrEnum):
    """The consequence of a failed check: the update fails, or it is reported, or nothing is checked."""

    ENFORCE = "enforce"
    WARN = "warn"
    OFF = "off"


class Unread(StrEnum):
    """The consequence if error counters cannot be read: it fails, or it is reported, or nothing is read."""

    ENFORCE = "enforce"
    WARN = "warn"
    OFF = "off"


class Sweep(StrEnum):
    """Message sizes of the all-reduce: five, or 8 B to 16 GiB by twos."""

    SHORT = "short"
    FULL = "full"


class Prometheus(StrEnum):
    """The Prometheus that reads the monitors: the Prometheus Operator's, or Azure Managed Prometheus."""

    KUBE_PROMETHEUS = "kube-prometheus"
    AZURE = "azure"


class Scheduler(StrEnum):
    """The scheduler of jobs."""

    KUEUE = "kueue"
    VOLCANO = "volcano"
