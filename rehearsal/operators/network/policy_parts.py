"""The parts that a NicClusterPolicy or a NicNodePolicy can request, in the order of `.status.appliedStates`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rehearsal.operators.network.devices import (
    doca_telemetry_service,
    rdma_shared_device_plugin,
    sriov_device_plugin,
)
from rehearsal.operators.network.networking import cni_part, nic_feature_discovery, nv_ipam
from rehearsal.operators.network.ofed import ofed_driver
from rehearsal.operators.network.parts import Context
from rehearsal.operators.plan import Document


@dataclass(frozen=True, kw_only=True)
class Part:
    state: str
    """Name in `.status.appliedStates`."""
    section: tuple[str, ...]
    """Path of the policy's section for it."""
    documents: Callable[[Document, Context], list[Document]] | None
    """None for a part that no definition here lets a policy request."""


CLUSTER_PARTS: Final = (
    Part(
        state="state-multus-cni",
        section=("secondaryNetwork", "multus"),
        documents=cni_part(
            "kube-multus-ds", app="multus", container="kube-multus", init="install-multus-binary", critical=True
        ),
    ),
    Part(
        state="state-container-networking-plugins",
        section=("secondaryNetwork", "cniPlugins"),
        documents=cni_part("cni-plugins-ds", app="cni-plugins", container="cni-plugins"),
    ),
    Part(
        state="state-ipoib-cni",
        section=("secondaryNetwork", "ipoib"),
        documents=cni_part("kube-ipoib-cni-ds", app="ipoib-cni", container="ipoib-cni"),
    ),
    Part(state="state-OFED", section=("ofedDriver",), documents=ofed_driver),
    Part(state="state-SRIOV-device-plugin", section=("sriovDevicePlugin",), documents=sriov_device_plugin),
    Part(state="state-RDMA-device-plugin", section=("rdmaSharedDevicePlugin",), documents=rdma_shared_device_plugin),
    Part(state="state-ib-kubernetes", section=("ibKubernetes",), documents=None),
    Part(state="state-nv-ipam-cni", section=("nvIpam",), documents=nv_ipam),
    Part(state="state-nic-feature-discovery", section=("nicFeatureDiscovery",), documents=nic_feature_discovery),
    Part(state="state-doca-telemetry-service", section=("docaTelemetryService",), documents=doca_telemetry_service),
    Part(state="state-nic-configuration-operator", section=("nicConfigurationOperator",), documents=None),
    Part(state="state-spectrum-x-operator", section=("spectrumXOperator",), documents=None),
)


NODE_PARTS: Final = tuple(
    next(part for part in CLUSTER_PARTS if part.state == state)
    for state in ("state-OFED", "state-RDMA-device-plugin", "state-SRIOV-device-plugin")
)
"""The parts that a NicNodePolicy can request."""
