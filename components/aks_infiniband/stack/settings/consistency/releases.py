"""The operators' release, and settings that contradict it."""

from collections.abc import Iterator

from aks_infiniband.facts.releases import OPERATOR_RELEASES, Release, release_of
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import Reading


def _release(reading: Reading) -> Release:
    return OPERATOR_RELEASES[reading.settings.release]


def _one_release(reading: Reading) -> Iterator[Mistake]:
    """A stack that names a release gets no chart of another. Without a release, the chart has the version that is
    given.
    """
    if "release" not in reading.settings.model_fields_set:
        return
    release = _release(reading)
    for chart, path, version in (
        ("network-operator", "networkOperator", reading.settings.network_operator),
        ("gpu-operator", "gpuOperator", reading.settings.gpu_operator),
    ):
        other = release_of(chart, version.chart.version)
        if other is not None and other is not release:
            reason = (
                f"is of release {other.name}, and aks-infiniband:release is {release.name}, which has "
                f"{release.operator(chart).chart.version}: leave one of them out"
            )
            yield wrong((path, "chart", "version"), version.chart.version, reason)


def _kubernetes(reading: Reading) -> Iterator[Mistake]:
    release = _release(reading)
    if reading.in_azure and reading.kubernetes < release.refused_below:
        oldest = ".".join(map(str, release.refused_below))
        reason = f"must be {oldest} or later: the charts of aks-infiniband:release {release.name} refuse older ones"
        yield wrong(("cluster", "kubernetesVersion"), reading.cluster.kubernetes_version, reason)


STACK = (_one_release, _kubernetes)
POOL = ()
