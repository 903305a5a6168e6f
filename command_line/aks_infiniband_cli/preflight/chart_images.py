"""The images that the operators' charts name themselves, where a stack's nodes pull them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART, Chart
from aks_infiniband.operators.charts import IMAGES, ChartSource, over
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

    A chart of another version than the pinned one names others, which are not known here.
    """
    if _is_known(stack.network.chart, NETWORK_OPERATOR_CHART):
        yield from _of_the_network_operator(stack)
    if stack.gpu is not None and _is_known(stack.gpu.chart, GPU_OPERATOR_CHART):
        yield from _of_the_gpu_operator(stack, over(IMAGES["gpu-operator"], stack.gpu.values))


def gpu_driver(stack: Stack) -> str | None:
    """The GPU driver's image without the node's system, which its tag ends in; None where it is not known."""
    if stack.gpu is None:
        return None
    given = (stack.gpu.values.get("driver") or {}).get("version")
    if not given and not _is_known(stack.gpu.chart, GPU_OPERATOR_CHART):
        return None
    return _reference(over(IMAGES["gpu-operator"], stack.gpu.values)["driver"], GPU_OPERATOR_CHART)


def not_known(stack: Stack) -> Iterator[Line]:
    """A line for each chart whose images are not known here."""
    charts = [("Network Operator", stack.network.chart, NETWORK_OPERATOR_CHART)]
    if stack.gpu is not None:
        charts.append(("GPU Operator", stack.gpu.chart, GPU_OPERATOR_CHART))
    for operator, chart, pinned in charts:
        if not _is_known(chart, pinned):
            found = f"{chart.version or chart.name} names its own; those of {pinned.version} are known here"
            remedy = f"helm show values {chart.name}: let the nodes reach these images, and look for them from there"
            yield Line(check=f"images of the {operator}'s chart", state="not checked", found=found, remedy=remedy)


def _is_known(chart: ChartSource, pinned: Chart) -> bool:
    return chart.version == pinned.version


def _of_the_network_operator(stack: Stack) -> Iterator[tuple[str, Sequence[Pool]]]:
    parts = over(IMAGES["network-operator"], stack.network.values)
    operator, discovery = parts["operator"], parts["node-feature-discovery"]["image"]
    yield f"{operator['repository']}/{operator['image']}:{operator.get('tag') or _own(NETWORK_OPERATOR_CHART)}", ()
    if parts.get("nfd", {}).get("enabled", True):
        yield f"{discovery['repository']}:{discovery['tag']}", stack.pools
    before, ofed = operator["ofedDriver"]["initContainer"], [p for p in stack.pools if p.nic_driver == "doca-ofed"]
    if before["enable"] and ofed:
        yield _reference(before, NETWORK_OPERATOR_CHART), ofed


def _of_the_gpu_operator(stack: Stack, parts: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Pool]]]:
    pools = list(filter(is_gpu_pool, stack.pools))
    yield _reference(parts["operator"], GPU_OPERATOR_CHART), ()
    if parts["driver"]["enabled"]:
        yield _reference(parts["driver"]["manager"], GPU_OPERATOR_CHART), pools
    for name in _OPERANDS:
        if parts[name].get("enabled", True):
            yield _reference(parts[name], GPU_OPERATOR_CHART), pools


def _reference(part: Mapping[str, Any], chart: Chart) -> str:
    """A version may be a digest (GPU Operator v26.3.3, internal/image/image.go)."""
    version = str(part.get("version") or _own(chart))
    return f"{part['repository']}/{part['image']}{'@' if version.startswith('sha256:') else ':'}{version}"


def _own(chart: Chart) -> str:
    """The tag of an image without a version: the release's."""
    return f"v{chart.version.removeprefix('v')}"
