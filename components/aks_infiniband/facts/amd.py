"""AMD's GPU Operator: its chart, its images and what it calls things.

Read in ROCm/gpu-operator 858cf25 (v1.5.1, 2026-07-21): helm-charts-k8s, config/crd, internal, docs. Its chart names
every image except the operator's own by `latest`; the tags here are those that its documentation or its users name.
"""

from typing import Final

from aks_infiniband.facts.kubernetes import Minor
from aks_infiniband.facts.versions import Chart

AMD_GPU_OPERATOR_CHART: Final = Chart(
    name="gpu-operator-charts", repository="https://rocm.github.io/gpu-operator", version="v1.5.1"
)
"""Release of 2026-07-21; the newest tag that was found on 2026-11-25."""
AMD_KUBERNETES: Final[tuple[Minor, Minor]] = ((1, 29), (1, 36))
"""The chart's kubeVersion, and the last version that AMD names (docs/releasenotes.md, v1.5.1)."""
CERT_MANAGER_CHART: Final = Chart(name="cert-manager", repository="https://charts.jetstack.io", version="v1.21.2")
"""Two series are supported: 1.20 for Kubernetes 1.32 to 1.35, and this one for 1.33 to 1.36; none names 1.37
(cert-manager, supported releases, read 2026-11-28). AMD's installation page has v1.15.1, out of support, with which
AMD's operator built the driver on AKS (Azure/AKS pull request 5970). KMM needs its Issuer and Certificate of
cert-manager.io/v1 alone."""

VIRTUAL_GPU: Final = {"feature.node.kubernetes.io/amd-vgpu": "true"}
"""Label of a node whose GPUs of AMD are virtual functions, as Azure's are: the chart's NodeFeatureRule knows them by
their PCI device, that of MI300X by 74b5. The chart's own selector, amd-gpu, is the label of physical ones."""
DEVICE_CONFIG_FIELDS: Final = (
    "commonConfig", "configManager", "devicePlugin", "draDriver", "driver", "metricsExporter", "remediationWorkflow",
    "selector", "testRunner",
)  # fmt: skip
"""Fields of a DeviceConfig's spec (ROCm/gpu-operator v1.5.1, helm-charts-k8s/crds/deviceconfig-crd.yaml)."""
DEVICE_PLUGIN_IMAGE: Final = "docker.io/rocm/k8s-device-plugin:1.31.0.10"
"""The newest tag that two users of the operator name (read 2026-11-25). One has the digest
sha256:0555caf9ccc1cf407b353d1aade87d4598059f87a784085aafe3ece19405b612, which is not the maker's word."""
NODE_LABELLER_IMAGE: Final = "docker.io/rocm/k8s-device-plugin:labeller-1.31.0.10"
"""The image of the same build: the operator itself derives its tag so (internal/nodelabeller)."""
METRICS_EXPORTER_IMAGE: Final = "docker.io/rocm/device-metrics-exporter:v1.5.0"
"""That of the documentation of v1.5.1."""
INIT_IMAGE: Final = "docker.io/library/busybox:1.36"
"""The chart's own: what its operands' init containers wait with until the driver is loaded."""
METRICS_PORT: Final = 5000
"""Port of the metrics exporter."""
KMM_IMAGE_TAG: Final = "v1.5.0"
"""Tag of the images of the Kernel Module Management operator, AMD's builds of it (docs/installation/kubernetes-helm.md
at v1.5.1); that its webhook's has the same is assumed."""
DRIVER_VERSION: Final = "30.20.1"
"""Version of amdgpu, which the chart names, and the AKS InfiniBand guide's own installer (Azure/aks-rdma-infiniband
700dabb, configs/amd-driver-installer, 2026-07-16). AMD's operator built 6.4 on AKS (Azure/AKS pull request 5970,
2026-09-20).
"""
KERNEL_MODULE_READY: Final = "kmm.node.kubernetes.io/{namespace}.{name}.ready"
"""Label of a node on which Kernel Module Management has loaded the driver of a DeviceConfig (internal/utils.go)."""
