"""ComputeDomains, by which pods of several machines share GPUs' memory over NVLink: their names, and what they need.

NVIDIA's DRA driver makes them (kubernetes-sigs/dra-driver-nvidia-gpu 9593204 of 2026-08-07: api, cmd, deployments/helm;
its release v0.4.1 is of 2026-06-30; read 2026-11-25). For each ComputeDomain its controller makes the
ResourceClaimTemplate that the ComputeDomain names, and a DaemonSet in its own namespace. A pod with a claim of that
template may be put on any node; the node then gets NODE_LABEL, the DaemonSet's pod comes there and runs an IMEX daemon,
and when that one is ready the pod's containers start, with /dev/nvidia-caps-imex-channels/channel0. A node is in one
ComputeDomain at a time.
"""

from typing import Final

from aks_infiniband.facts.kubernetes import Minor

API_VERSION: Final = "resource.nvidia.com/v1beta1"
CLIQUE_LABEL: Final = "nvidia.com/gpu.clique"
"""Label of a node, CLUSTER_UUID.CLIQUE_ID: machines with the same value reach each other's GPUs by NVLink. GPU Feature
Discovery gives it (NVIDIA/k8s-device-plugin, internal/lm/imex.go)."""
NAMESPACE: Final = "dra-driver-nvidia-gpu"
"""The driver's own. Its chart refuses the namespace default."""
KUBELET_PLUGIN: Final = "dra-driver-nvidia-gpu-kubelet-plugin"
"""The DaemonSet that publishes a node's channels and prepares claims. The plugin does not start on a node whose GPUs
are not registered with the NVLink fabric (feature gate CrashOnNVLinkFabricErrors, on by default).
"""
OPERATOR_DRIVER_ROOT: Final = "/run/nvidia/driver"
"""The folder into which the GPU Operator's driver container puts the driver; the node image's is at /."""
OLDEST_KUBERNETES: Final[Minor] = (1, 34)
"""The first version with resource.k8s.io/v1, without a feature gate (the driver's prerequisites.md: 1.34.2)."""
OLDEST_GPU_DRIVER: Final = 570
"""Branch of the GPU driver, whose 570.158.01 is the first with ComputeDomains (the same)."""
