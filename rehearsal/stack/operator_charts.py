"""The parts of the operators' charts that a rehearsal takes, without Helm: their versions, and the definitions that
their hooks apply.
"""

import tarfile
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import yaml
from lightkube import Client, KubeConfig, codecs
from lightkube.core.exceptions import ConfigError
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from rehearsal.stack.others_definitions import await_served
from rehearsal.stack.stack_file import CHARTS, NAMESPACE, section

_DEFINITION: Final = "CustomResourceDefinition"
_WITHOUT_HOOK: Final = frozenset({"resource.nvidia.com"})
"""API groups of definitions that a chart brings and its hook does not apply: ComputeDomains (gpu-operator v26.7.0,
templates/upgrade_crd.yaml). So after an upgrade from 26.3 they are not there."""
_WANTED: Final = ("Chart.yaml", "crds/*.yaml", "charts/*/crds/*.yaml")


def version_of(chart: Path) -> str:
    """A chart's own version. chart: its folder, or its archive."""
    text = next(text for name, text in _files(chart) if name == "Chart.yaml")
    return str(yaml.safe_load(text)["version"])


def not_taken(config: Mapping[str, Any], charts: Mapping[str, Path]) -> list[str]:
    """The release and the charts that a stack file requires and a rehearsal lacks, in words. charts: by setting."""
    refused = []
    network, release = version_of(charts["networkOperator"]), str(config.get(f"{NAMESPACE}:release") or "")
    if release and not network.removeprefix("v").startswith(f"{release}."):
        refused.append(
            f"aks-infiniband:release {release} was rehearsed in part: the images that the NIC policies name are its "
            "own. The charts' own parts, the GPU driver among them, are of "
            f"{' and '.join(f'{setting} {version_of(charts[setting])}' for setting in CHARTS)}. "
            "With CHARTS= and the folder of that release's charts it is all of it"
        )
    for setting, chart in charts.items():
        wanted = (section(config, setting) or {}).get("chart")
        asked = str(wanted.get("version") or "") if isinstance(wanted, dict) else ""
        here = version_of(chart)
        if asked.removeprefix("v") not in {"", here.removeprefix("v")}:
            refused.append(
                f"{setting}.chart.version {asked} was not rehearsed: the chart here is {here}. "
                "With CHARTS= and the folder of that version's charts it is"
            )
    return refused


def renew_definitions(kubeconfig: Path, charts: Mapping[str, Path]) -> list[str]:
    """Apply the definitions of charts that were installed before; their names.

    Helm installs definitions and does not upgrade them: both operators' charts have a hook that does (`manage-crds
    apply`), whose program no simulated machine has. A chart of which no definition is there is yet to be installed.
    """
    try:
        config = KubeConfig.from_file(str(kubeconfig))
    except (ConfigError, OSError):
        return []
    client = Client(config=config, trust_env=False, field_manager="manage-crds")
    there = {
        str(definition.metadata and definition.metadata.name) for definition in client.list(CustomResourceDefinition)
    }
    applied = []
    for chart in charts.values():
        if not any(document["metadata"]["name"] in there for document in _definitions(chart, own="crds/")):
            continue
        for document in _definitions(chart):
            client.apply(codecs.from_dict(document), force=True)
            if document["metadata"]["name"] not in there:
                await_served(client, document["spec"])
            applied.append(document["metadata"]["name"])
    return applied


def _definitions(chart: Path, *, own: str = "") -> Iterator[dict[str, Any]]:
    """The definitions that a chart's hook applies, of its subcharts, too. own: the beginning of the names of the files
    that are read; another chart may bring the same definitions as a subchart.
    """
    for name, text in _files(chart):
        if name != "Chart.yaml" and name.startswith(own):
            documents = yaml.load_all(text, Loader=yaml.CSafeLoader)
            wanted = (document for document in documents if document and document.get("kind") == _DEFINITION)
            yield from (document for document in wanted if document["spec"]["group"] not in _WITHOUT_HOOK)


def _files(chart: Path) -> Iterator[tuple[str, str]]:
    """Name below the chart's folder, and text, of its description and of its and its subcharts' definitions."""
    if chart.is_dir():
        for path in sorted(path for pattern in _WANTED for path in chart.glob(pattern)):
            yield str(path.relative_to(chart)), path.read_text(encoding="utf-8")
        return
    with tarfile.open(chart) as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if member.isfile() and any(fnmatch(name, pattern) for pattern in _WANTED):
                content = archive.extractfile(member)
                yield name, content.read().decode() if content else ""
