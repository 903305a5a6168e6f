"""Releases of NVIDIA's two operators: charts, images, drivers and Kubernetes that belong together (`releases.yaml`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from aks_infiniband.facts.kubernetes import Minor, minor_of
from aks_infiniband.facts.tables import table
from aks_infiniband.facts.versions import Chart, Image

ReleaseName = Literal["26.4", "26.7"]
"""A release is called as the Network Operator's."""
_TABLE: Final = table(__package__, "releases.yaml")
_NGC: Final = "https://helm.ngc.nvidia.com/nvidia"
_MELLANOX: Final = "nvcr.io/nvidia/mellanox"


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The images that a NicClusterPolicy names; NVIDIA advises against mixing those of two releases."""

    doca_driver: Image
    rdma_shared_device_plugin: Image
    sriov_device_plugin: Image
    cni_plugins: Image
    multus: Image
    ipoib_cni: Image
    nv_ipam: Image
    doca_telemetry: Image


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorRelease:
    """One operator in a release."""

    title: str
    """Name and release, for people: Network Operator 26.4."""
    chart: Chart
    """The chart, pinned."""
    images: Mapping[str, Any]
    """Versions of the images that the chart names itself, as its Helm values."""
    kubernetes: tuple[Minor, Minor]
    """First and last version that NVIDIA names. Others may work."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """Both operators, and all that they bring."""

    name: ReleaseName
    """Its name in a stack file."""
    network_operator: OperatorRelease
    gpu_operator: OperatorRelease
    parts: Parts
    """The parts that the policies install."""
    refused_below: Minor
    """The first version of Kubernetes in which the charts can be installed."""

    def operator(self, chart: str) -> OperatorRelease:
        """The operator by its chart's name. Raises KeyError for a chart of neither."""
        return {"network-operator": self.network_operator, "gpu-operator": self.gpu_operator}[chart]

    def unnamed(self, version: str) -> list[str]:
        """For operators that do not name this version of Kubernetes, the versions that they name. version: such as
        1.35.
        """
        return [
            f"{operator.title} names {_written(operator.kubernetes[0])} to {_written(operator.kubernetes[1])}"
            for operator in (self.network_operator, self.gpu_operator)
            if not operator.kubernetes[0] <= minor_of(version) <= operator.kubernetes[1]
        ]


def _written(minor: Minor) -> str:
    return ".".join(map(str, minor))


def _operator(chart: str, told: Mapping[str, Any], title: str) -> OperatorRelease:
    first, last = map(minor_of, told["kubernetes"])
    release = ".".join(told["version"].removeprefix("v").split(".")[:2])
    return OperatorRelease(
        title=f"{title} {release}",
        chart=Chart(name=chart, repository=_NGC, version=told["version"]),
        images=told["images"],
        kubernetes=(first, last),
    )


def _parts(told: Mapping[str, str]) -> Parts:
    def part(image: str) -> Image:
        return Image(repository=_MELLANOX, image=image, version=told["parts"])

    return Parts(
        doca_driver=Image(repository=_MELLANOX, image="doca-driver", version=told["doca_driver"]),
        rdma_shared_device_plugin=part("k8s-rdma-shared-dev-plugin"),
        sriov_device_plugin=part("sriov-network-device-plugin"),
        cni_plugins=part("plugins"),
        multus=part("multus-cni"),
        ipoib_cni=part("ipoib-cni"),
        nv_ipam=part("nvidia-k8s-ipam"),
        doca_telemetry=Image(repository="nvcr.io/nvidia/doca", image="doca_telemetry", version=told["doca_telemetry"]),
    )


def _release(name: ReleaseName) -> Release:
    told = _TABLE["releases"][name]
    network = told["network-operator"]
    return Release(
        name=name,
        network_operator=_operator("network-operator", network, "Network Operator"),
        gpu_operator=_operator("gpu-operator", told["gpu-operator"], "GPU Operator"),
        parts=_parts(network),
        refused_below=minor_of(network["refused_below"]),
    )


OPERATOR_RELEASES: Final[Mapping[ReleaseName, Release]] = {name: _release(name) for name in get_args(ReleaseName)}
"""By name, the oldest first."""
DEFAULT_RELEASE: Final = OPERATOR_RELEASES["26.4"]
"""The release of a stack that names none: the newest one whose final charts, both of them, were read and rehearsed."""
NETWORK_OPERATOR_CHART: Final = DEFAULT_RELEASE.network_operator.chart
GPU_OPERATOR_CHART: Final = DEFAULT_RELEASE.gpu_operator.chart
OLDEST_KUBERNETES: Final[Minor] = min(release.refused_below for release in OPERATOR_RELEASES.values())
"""An older one is refused."""
OUT_OF_SUPPORT: Final[Mapping[str, Minor]] = {
    operator: minor_of(release) for operator, release in _TABLE["out_of_support"].items()
}
"""By operator, its newest release without any more fixes."""


def release_of(chart: str, version: str | None) -> Release | None:
    """The release that pins a version of a chart; None for any other. chart: its name, such as gpu-operator."""
    number = (version or "").removeprefix("v")
    release = (
        each for each in OPERATOR_RELEASES.values() if each.operator(chart).chart.version.removeprefix("v") == number
    )
    return next(release, None)
