"""A check that the operators' charts can be reached from here, as `pulumi up` reaches them."""

from collections.abc import Iterator
from pathlib import Path

from aks_infiniband.operators.charts import ChartSource
from aks_infiniband.stack.stack import Stack
from azure.core import PipelineClient
from azure.core.exceptions import AzureError
from azure.core.rest import HttpRequest, HttpResponse

from aks_infiniband_cli.azure.errors import words_of
from aks_infiniband_cli.preflight.checks import Line, State
from aks_infiniband_cli.preflight.registry import Registries, RegistryError


def charts(stack: Stack, folder: Path, registries: Registries) -> Iterator[Line]:
    """A line for each operator's chart. folder: of the stack file, to which paths are relative."""
    for operator in stack.operators.installed:
        yield _line(operator.title, operator.chart, folder, registries)


def index_of(repository: str) -> str:
    """The URL of a chart repository's index (Helm, "The Chart Repository Guide")."""
    return f"{repository.rstrip('/')}/index.yaml"


def _line(operator: str, chart: ChartSource, folder: Path, registries: Registries) -> Line:
    check = f"chart of the {operator}"
    if chart.name.startswith("oci://"):
        return _in_registry(check, chart, registries)
    if chart.repository is None:
        if (folder / chart.name).exists():
            return Line(check=check, state="pass", found=f"{chart.name} is there")
        return Line(
            check=check, state="fail", found=f"{chart.name} is not there", remedy="set chart.name of the operator"
        )
    why = _unreachable(index_of(chart.repository))
    if why is None:
        return Line(check=check, state="pass", found=f"{chart.repository} answers; {chart.name} {chart.version}")
    remedy = "let this machine reach it, or set aks-infiniband:registry.charts to a mirror"
    return Line(check=check, state="fail", found=f"{chart.repository}: {why}", remedy=remedy)


def _in_registry(check: str, chart: ChartSource, registries: Registries) -> Line:
    tag = str(chart.version).replace("+", "_")  # a tag has no + (Helm, "Use OCI-based registries")
    try:
        registries.manifest(f"{chart.name.removeprefix('oci://')}:{tag}")
    except RegistryError as error:
        remedy = f"helm show chart {chart.name} --version {chart.version}"
        state: State = "fail" if error.absent else "not checked"
        return Line(check=check, state=state, found=f"{chart.name} {chart.version}: {error}", remedy=remedy)
    return Line(check=check, state="pass", found=f"{chart.name} has {chart.version}")


def _unreachable(index: str) -> str | None:
    """The reason why a repository's index cannot be read; None if it can. Its content is not read: it has megabytes."""
    client: PipelineClient[HttpRequest, HttpResponse] = PipelineClient(index, retry_total=1)
    with client:
        try:
            with client.send_request(HttpRequest("GET", index), stream=True) as response:
                return None if response.status_code == 200 else f"it answers {response.status_code}"
        except AzureError as error:
            return words_of(error)
