"""The images that the operators' charts name themselves, at the place from which a stack's nodes pull them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.amd import AMD_GPU_OPERATOR_CHART, CERT_MANAGER_CHART
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import release_of
from aks_infiniband.facts.versions import Chart
from aks_infiniband.operators.amd_gpu_operator import amd_gpu_operator_images
from aks_infiniband.operators.cert_manager import cert_manager_images
from aks_infiniband.operators.charts import IMAGES, images_of, over
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.preflight.checks import Line

_OPERANDS: Final = (
    "validator",
    "toolkit",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "migManager",
    "nodeStatusExporter",
)
"""Parts of the GPU Operator's chart that run on nodes with GPUs; those for virtual machines do not run here."""


def of_charts(stack: Stack) -> Iterator[tuple[str, Sequence[Pool]]]:
    """Each image, and the pools whose nodes pull it: none for the operators' own pods, which run elsewhere.

    A chart that is of no release names others, which are not known here.
    """
    operators = stack.operators
    network = operators.network
    if network is not None and (known := release_of("network-operator", network.chart.version)) is not None:
        parts = over(images_of(known, "network-operator"), network.values)
        yield from _of_the_network_operator(stack, parts, known.network_operator.chart)
    gpu, manager = operators.gpu, operators.cert_manager
    if gpu is not None and (known := release_of("gpu-operator", gpu.chart.version)) is not None:
        parts = over(images_of(known, "gpu-operator"), gpu.values)
        yield from _of_the_gpu_operator(stack, parts, known.gpu_operator.chart)
    if operators.amd is not None and operators.amd.chart.version == AMD_GPU_OPERATOR_CHART.version:
        yield from amd_gpu_operator_images(stack.pools, operators.amd_options)
    if manager is not None and manager.chart.version == CERT_MANAGER_CHART.version:
        yield from ((image, ()) for image in cert_manager_images(stack.registry))


def gpu_driver(stack: Stack) -> str | None:
    """The GPU driver's image without the node's system, which its tag ends in; None if it is not known."""
    gpu = stack.operators.gpu
    if gpu is None:
        return None
    given = (gpu.values.get("driver") or {}).get("version")
    known = release_of("gpu-operator", gpu.chart.version)
    if not given and known is None:
        return None
    release = known or stack.operators.release
    driver = over(images_of(release, "gpu-operator"), gpu.values)["driver"]
    return _reference(driver, release.gpu_operator.chart)


def not_known(stack: Stack) -> Iterator[Line]:
    """A line for each chart whose images are not known here."""
    for operator in stack.operators.installed:
        chart, pinned = operator.chart, operator.pinned
        if not _is_known(pinned, chart.version):
            found = f"{chart.version or chart.name} names its own; those of {pinned.version} are known here"
            remedy = f"helm show values {chart.name}: let the nodes reach these images, and look for them from there"
            yield Line(check=f"images of the {operator.title}'s chart", state="not checked", found=found, remedy=remedy)


def _is_known(pinned: Chart, version: str | None) -> bool:
    """NVIDIA's operators have several releases here, the others the pinned version alone."""
    return release_of(pinned.name, version) is not None if pinned.name in IMAGES else version == pinned.version


def _of_the_network_operator(
    stack: Stack, parts: Mapping[str, Any], chart: Chart
) -> Iterator[tuple[str, Sequence[Pool]]]:
    operator, discovery = parts["operator"], parts["node-feature-discovery"]["image"]
    yield f"{operator['repository']}/{operator['image']}:{operator.get('tag') or _own(chart)}", ()
    if parts.get("nfd", {}).get("enabled", True):
        yield f"{discovery['repository']}:{discovery['tag']}", stack.pools
    before, ofed = operator["ofedDriver"]["initContainer"], [p for p in stack.pools if p.nic_driver == "doca-ofed"]
    if before["enable"] and ofed:
        yield _reference(before, chart), ofed


def _of_the_gpu_operator(stack: Stack, parts: Mapping[str, Any], chart: Chart) -> Iterator[tuple[str, Sequence[Pool]]]:
    pools = list(filter(is_gpu_pool, stack.pools))
    yield _reference(parts["operator"], chart), ()
    if parts["driver"]["enabled"]:
        yield _reference(parts["driver"]["manager"], chart), pools
    for name in _OPERANDS:
        if parts[name].get("enabled", True):
            yield _reference(parts[name], chart), pools


def _reference(part: Mapping[str, Any], chart: Chart) -> str:
    """A version may be a digest (GPU Operator v26.3.3, internal/image/image.go)."""
    version = str(part.get("version") or _own(chart))
    return f"{part['repository']}/{part['image']}{'@' if version.startswith('sha256:') else ':'}{version}"


def _own(chart: Chart) -> str:
    """The tag of an image without a version: the release's."""
    return f"v{chart.version.removeprefix('v')}"
