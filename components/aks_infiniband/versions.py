"""Every chart and image that is not a setting's default elsewhere, pinned, in one place.

Images of the Network Operator's parts are those that release 26.4.1 was tested with (its `release.yaml`): NVIDIA
advises against mixing them.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A Helm chart in a chart repository."""

    name: str
    repository: str
    version: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A container image, in the three parts that NVIDIA's custom resources take."""

    repository: str
    image: str
    version: str

    def as_fields(self) -> dict[str, str]:
        """The fields of a custom resource's image spec."""
        return {"repository": self.repository, "image": self.image, "version": self.version}


_NGC: Final = "https://helm.ngc.nvidia.com/nvidia"

NETWORK_OPERATOR_CHART: Final = Chart(name="network-operator", repository=_NGC, version="26.4.1")
GPU_OPERATOR_CHART: Final = Chart(name="gpu-operator", repository=_NGC, version="v26.3.3")

DOCA_DRIVER: Final = Image(
    repository="nvcr.io/nvidia/mellanox", image="doca-driver", version="doca3.4.1-26.04-1.1.0.0-1"
)
RDMA_SHARED_DEVICE_PLUGIN: Final = Image(
    repository="nvcr.io/nvidia/mellanox", image="k8s-rdma-shared-dev-plugin", version="network-operator-v26.4.1"
)
DOCA_TELEMETRY: Final = Image(repository="nvcr.io/nvidia/doca", image="doca_telemetry", version="1.25.5-doca3.4.0-host")

VALIDATION_IMAGE: Final = "mcr.microsoft.com/azurelinux/base/python:3.12.9-13-azl3.0.20260706"
"""Azure Linux with Python, from Microsoft's registry: on AKS it is pulled without leaving Azure."""

MINIMUM_KUBERNETES: Final = (1, 31)
"""Oldest Kubernetes that the Network Operator supports (NVIDIA, Network Operator 26.1, "Platform Support")."""
