"""Helm charts: the sources of charts and images, and their values, which must not contradict what is derived."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pulumi

from aks_infiniband.facts.releases import Release
from aks_infiniband.facts.tables import table
from aks_infiniband.facts.versions import Chart
from aks_infiniband.handwritten import HandwrittenError, read, shortened
from aks_infiniband.resources.registry import Registry

IMAGES: Final[Mapping[str, Mapping[str, Any]]] = table(__package__, "chart_images.yaml")
"""By chart, its values that name images, each with the chart's own default, without the versions of a release."""
DEFINITIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "network-operator": {"upgradeCRDs": True},
    "gpu-operator": {"operator": {"upgradeCRD": True}},
    "gpu-operator-charts": {"upgradeCRD": True},
    "dra-driver-nvidia-gpu": {},  # this chart does not have such a hook
}
"""By chart, the values by which its own hook applies its custom resource definitions before an upgrade, as the charts
have them by default (network-operator 26.4.1 and 26.7.0-rc.2, gpu-operator v26.3.3 and v26.7.0, AMD's
gpu-operator-charts v1.5.1, values.yaml). Helm itself never changes a definition that is there: without the hook, GPU
Operator 26.7 over 26.3 never finds the definition of GPUCluster, and does not start."""


class ValuesError(pulumi.RunError):
    """Helm values that cannot be used; the text names every key, what it is and what the program needs."""

    def __init__(self, text: str, mistakes: Sequence[tuple[str, str]] = ()) -> None:
        """mistakes: key and reason of each. The key is one below an operator's settings."""
        super().__init__(text)
        self.mistakes = tuple(mistakes)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChartSource:
    """A chart as Helm finds it."""

    name: str
    """Name in the repository, oci:// address, or path."""
    repository: str | None
    """URL of the chart repository; None for an address or a path."""
    version: str | None
    """None for a path, because the chart there has its own version."""


def chart_source(
    default: Chart,
    *,
    name: str | None = None,
    repository: str | None = None,
    version: str | None = None,
    location: str | None = None,
) -> ChartSource:
    """The default chart, with the given fields in place of those it has.

    A path or archive has its own version, so the default's version is not used for it.

    location: chart repository (https://) or registry (oci://) that has the chart under its own name, instead of its
        vendor's.
    """
    name = name or default.name
    if name.startswith("oci://"):
        return ChartSource(name=name, repository=None, version=version or default.version)
    if _is_path(name):
        return ChartSource(name=name, repository=None, version=version)
    repository = repository or location or default.repository
    version = version or default.version
    if repository.startswith("oci://"):
        return ChartSource(name=f"{repository.rstrip('/')}/{name}", repository=None, version=version)
    return ChartSource(name=name, repository=repository, version=version)


def _is_path(name: str) -> bool:
    return not name.startswith("oci://") and ("/" in name or "\\" in name or name.endswith(".tgz"))


def there(chart: ChartSource) -> ChartSource:
    """The chart. Raises ValuesError for a path at which none is: Helm would say so once the cluster is made."""
    if _is_path(chart.name) and not (Path(chart.name).is_file() or (Path(chart.name) / "Chart.yaml").is_file()):
        reason = f"is {chart.name!r}; must be a folder with a Chart.yaml, or an archive, relative to the project"
        raise ValuesError(f"chart.name {reason}", [("chart.name", reason)])
    return chart


def given_values(file: str | None, values: Mapping[str, Any], *, named: bool = True) -> dict[str, Any]:
    """The values that people wrote: those of the file, and over them those of the stack.

    named: whether they named the file. The default file, which the stack did not name, need not be there.

    Raises ValuesError for a file that is not there or is not a mapping.
    """
    if file is None or not (named or Path(file).exists()):
        return dict(values)
    try:
        content = read(file) or {}
    except HandwrittenError as error:
        raise _unusable(file, f", which {error}") from error
    if not isinstance(content, dict):
        raise _unusable(file, "; it must hold a mapping of Helm values")
    return over(content, values)


def _unusable(file: str, reason: str) -> ValuesError:
    return ValuesError(f"valuesFile is {file!r}{reason}", [("valuesFile", f"is {file!r}{reason}")])


def merge(given: Mapping[str, Any], derived: Mapping[str, Any], *, chart: str) -> dict[str, Any]:
    """The derived values, with the values that people gave.

    chart: name of the chart, in which DEFINITIONS are looked up; the error says it too.

    Raises ValuesError that names every key whose given value differs from the derived one, or keeps the chart from
    upgrading its definitions.
    """
    conflicts = [*contradictions(given, over(derived, DEFINITIONS.get(chart, {}))), *_misshapen(given, chart)]
    if conflicts:
        lines = "\n".join(f"  - {key} {reason}" for key, reason in conflicts)
        raise ValuesError(
            f"Helm values of chart {chart} contradict what follows from the stack's settings:\n{lines}",
            [(f"values.{key}", f"{reason}, or out of valuesFile") for key, reason in conflicts],
        )
    return over(given, derived)


def _misshapen(values: Mapping[str, Any], chart: str) -> Iterator[tuple[str, str]]:
    """Values of another shape than the chart's own: Helm passes over a section that is none, and takes any text for
    true.
    """
    pending: list[tuple[tuple[str, ...], Any, Any]] = [((), values, IMAGES.get(chart, {}))]
    while pending:
        path, value, shape = pending.pop()
        at = ".".join(path)
        if value is None:  # Helm takes the default away
            continue
        if isinstance(shape, Mapping) and not isinstance(value, Mapping):
            yield (
                at,
                f"is {shortened(value)}; must be a mapping, such as {{{next(iter(shape))}: …}}",
            )
        elif isinstance(shape, Mapping):
            pending += [((*path, key), value[key], shape[key]) for key in shape if key in value]
        elif isinstance(shape, bool) and not isinstance(value, bool):
            yield at, f"is {shortened(value)}; must be true or false, without quotes: Helm takes any text for true"


def contradictions(given: Mapping[str, Any], derived: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Keys, with dots, whose given value differs from the derived one, and what each is and must be."""
    return list(_conflicts(given, derived, ()))


def _conflicts(given: Mapping[str, Any], derived: Mapping[str, Any], path: Sequence[str]) -> Iterator[tuple[str, str]]:
    for key, needed in derived.items():
        if key not in given or given[key] == needed:
            continue
        here = (*path, key)
        if isinstance(needed, Mapping) and isinstance(given[key], Mapping):
            yield from _conflicts(given[key], needed, here)
        else:
            yield ".".join(here), f"is {given[key]!r}; it must be {needed!r}: leave it out"


def over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Values with others over them, as Helm merges: mappings key by key, everything else as a whole."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        merged[key] = over(under, value) if both else value  # type: ignore[arg-type]  # both are mappings
    return merged


def images_of(release: Release, chart: str) -> dict[str, Any]:
    """The values of a release's chart that name images. chart: its name."""
    return over(IMAGES[chart], release.operator(chart).images)


def network_operator_images(registry: Registry) -> dict[str, Any]:
    """The Network Operator chart's values for a registry; none if images stay at their sources."""
    values = _from(registry, IMAGES["network-operator"])
    if registry.pull_secret is None:
        return values
    discovery = {"imagePullSecrets": registry.pull_secrets()}
    return over(values, {"imagePullSecrets": [registry.pull_secret], "node-feature-discovery": discovery})


def gpu_operator_images(registry: Registry) -> dict[str, Any]:
    """The GPU Operator chart's values for a registry; none if images stay at their sources."""
    parts = IMAGES["gpu-operator"]
    values = _from(registry, parts)
    if registry.pull_secret is None:
        return values
    secret = {"imagePullSecrets": [registry.pull_secret]}
    return over(values, {part: secret for part, own in parts.items() if "repository" in own})


def _from(registry: Registry, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the registry's repositories in place of those in the chart."""
    if registry.images is None:
        return {}
    here = {"repository": registry.image(values["repository"])} if "repository" in values else {}
    return here | {key: _from(registry, own) for key, own in values.items() if isinstance(own, Mapping)}
