"""Every image that is not a setting's default elsewhere and not of NVIDIA's operators, pinned, in one place; what a
chart and an image are. The operators' stand in `releases`.
"""

from dataclasses import dataclass
from typing import Final

from aks_infiniband.facts.tables import table

_DIGESTS: Final = table(__package__, "digests.yaml")


def by_digest(reference: str) -> str:
    """An image of ours with its digest behind its tag, which registries then go by. Without a known digest, the image
    as it is.
    """
    digest = _DIGESTS.get(reference)
    return f"{reference}@{digest}" if digest else reference


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

    @property
    def reference(self) -> str:
        """The image as a container names it."""
        return f"{self.repository}/{self.image}:{self.version}"


DRA_DRIVER_CHART: Final = Chart(
    name="dra-driver-nvidia-gpu",
    repository="oci://registry.k8s.io/dra-driver-nvidia/charts",
    version="0.4.1",
)
"""NVIDIA's DRA driver for GPUs, of 2026-06-30 (kubernetes-sigs/dra-driver-nvidia-gpu). GPU Operator 26.7 can bring its
own (`draDriver`, v0.5.0), a technology preview that this program leaves off. Its charts 0.5.0 and 0.5.1 are not taken,
because they could not be read: docs/rollout.md has what is missing.
"""
DRA_DRIVER: Final = Image(
    repository="registry.k8s.io/dra-driver-nvidia", image="dra-driver-nvidia-gpu", version="v0.4.1"
)
"""That chart's image, for amd64 and arm64 (its `deployments/container/Makefile` builds both)."""

LAST_BRANCH_WITH_V100: Final = 580
"""Branch of the GPU driver, which is the first number of its version: 595 does not support V100, which needs R580
(NVIDIA, GPU Operator 26.7 release notes, read 2026-11-23). Between them nothing was published for data centers
(assumed).
"""
FIRST_CHART_WITHOUT_V100: Final = (26, 7)
"""Release of the GPU Operator: its chart brings driver 595.91.07 (v26.7.0, values.yaml); that of v26.3.3 580.126.20."""

NODE_TOOLS: Final = Image(repository="mcr.microsoft.com/mirror/docker/library", image="busybox", version="1.35")
"""A shell with nsenter, from Microsoft's registry, as people use it to get onto AKS nodes
(ioanc/k8s-network-troubleshooting, pod-kubectl-debug-node.sh); Azure Linux's own base images lack nsenter.
"""

NODE_EXPORTER: Final = Image(repository="quay.io/prometheus", image="node-exporter", version="v1.12.1")
"""Prometheus' exporter of a machine's counters, of 2026-07-14, for amd64 and arm64."""

DRANET: Final = Image(repository="registry.k8s.io/networking", image="dranet", version="v1.4.0")
"""The driver that publishes HCAs as devices for claims, of 2026-07-17 (see `facts.dranet`)."""

VALIDATION_IMAGE: Final = "mcr.microsoft.com/azurelinux/base/python:3.12.9-13-azl3.0.20260706"
"""Azure Linux with Python, from Microsoft's registry: on AKS it is pulled without leaving Azure."""

NCCL_IMAGE: Final = "nvcr.io/nvidia/cuda:12.9.1-runtime-ubuntu24.04"
"""NCCL 2.27.3 and the CUDA runtime, for amd64 and arm64; neither Python nor libibverbs. The images of CUDA 13.1 lack
NCCL (docs/records/facts.yaml). This one's has code for all GPUs of the catalogue, from V100's compute capability 7.0 to
12.0 (NVIDIA/nccl, makefiles/common.mk), and CUDA 12 runs on GPU drivers of branch 525 or later (NVIDIA, "CUDA
Compatibility").
"""

RCCL_IMAGE: Final = "docker.io/rocm/dev-ubuntu-24.04:7.2.4-complete"
"""RCCL and HIP's runtime for gfx942, MI300X, on Ubuntu 24.04: the base of the AKS InfiniBand guide's image of
rccl-tests (Azure/aks-rdma-infiniband 700dabb, tests/containers/rccl-tests/Dockerfile), in its variant with all
libraries. That it has RCCL 2.27.7, as ROCm 7.2.4 has elsewhere (recorded: rccl.yaml), and neither Python nor libibverbs
is assumed. The guide's own image has only the tag latest.
"""

COLLECTIVE_IMAGE: Final = "nvcr.io/nvidia/pytorch:25.12-py3"
"""PyTorch with NCCL and RDMA's user space, for amd64 and arm64 (NVIDIA, "PyTorch Release 25.12": PyTorch 2.10, CUDA
13.1, Python 3.12). CUDA 13 needs a GPU driver of branch 580 or later, and does not support V100."""
COLLECTIVE_IMAGE_VOLTA: Final = "nvcr.io/nvidia/pytorch:24.10-py3"
"""The same for V100: releases from 25.01 on need compute capability 7.5 (NVIDIA, "PyTorch Release 25.01")."""


def collective_image(accelerator: str) -> str:
    """The image with PyTorch for a model of accelerator, such as H100."""
    return COLLECTIVE_IMAGE_VOLTA if accelerator == "V100" else COLLECTIVE_IMAGE
