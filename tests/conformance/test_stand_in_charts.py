"""Our charts take the real charts' names, and no other."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.conformance.facts import DRA, GPU, GPU_LATER, NETWORK, NETWORK_LATER, chart_values, facts
from tests.conformance.stand_ins import CHARTS, DRA_DRIVER, OPERATORS, chart_of

REAL = {
    ("26.4", "network-operator"): NETWORK,
    ("26.4", "gpu-operator"): GPU,
    ("26.4", DRA_DRIVER): DRA,
    ("26.7", "network-operator"): NETWORK_LATER,
    ("26.7", "gpu-operator"): GPU_LATER,
}
EVERY = pytest.mark.parametrize(("release", "chart"), REAL)
NFD = "node-feature-discovery"
CANDIDATE, FINAL = "26.7.0-rc.2", "26.7.0"
PLACES = {"repository"}
"""The differences between a release candidate and a release: its images are in a separate place."""

Tree = dict[str, Any]


def real_values(release: str, chart: str) -> Tree:
    return chart_values(REAL[release, chart])


def our_values(release: str, chart: str) -> Tree:
    values: Tree = yaml.safe_load((chart_of(release, chart) / "values.yaml").read_text())
    return values


def schema_of(release: str, chart: str) -> Tree:
    schema: Tree = json.loads((chart_of(release, chart) / "values.schema.json").read_text())
    return schema


def names_of_values(values: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in values.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from names_of_values(value, (*path, name))


def names_of_schema(schema: Tree, whole: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if "$ref" in schema:
        schema = whole["definitions"][schema["$ref"].rpartition("/")[2]]
    for name, child in (schema.get("properties") or {}).items():
        yield (*path, name)
        yield from names_of_schema(child, whole, (*path, name))


def unknown(names: Iterator[tuple[str, ...]], real: Tree) -> list[str]:
    """Names that the real values lack; below a default that is empty or null they say nothing."""
    found = []
    for path in names:
        here: Any = real
        for name in path:
            if here in ({}, None, []):
                break
            if not isinstance(here, dict) or name not in here:
                found.append(".".join(path))
                break
            here = here[name]
    return found


GIVEN_BY_HELM = {"global"}
OF_ITS_OWN_CHART = {"imagePullSecrets"}
"""Values that only Node Feature Discovery's own chart (v0.18) lists, at its top."""
# The real template passes these on to the ClusterPolicy, whose definition has them; the default values lack them.
ONLY_IN_THE_TEMPLATE = {"gpu-operator": {"dcgm.imagePullSecrets", "dcgmExporter.imagePullSecrets"}}


@EVERY
def test_every_default_value_is_one_of_the_real_chart(release: str, chart: str) -> None:
    assert unknown(names_of_values(our_values(release, chart)), real_values(release, chart)) == []


@EVERY
def test_every_name_that_the_schema_allows_is_one_of_the_real_chart(release: str, chart: str) -> None:
    schema = schema_of(release, chart)
    names = set(unknown(names_of_schema(schema, schema), real_values(release, chart)))
    commented_out = facts(f"{REAL[release, chart]}/chart-values.yaml")["commented-out"]
    assert names - GIVEN_BY_HELM - ONLY_IN_THE_TEMPLATE.get(chart, set()) - set(commented_out) == set()


@pytest.mark.parametrize("release", ["26.4", "26.7"])
def test_feature_discovery_takes_only_what_the_real_charts_set_for_theirs(release: str) -> None:
    schema = schema_of(release, NFD)
    missing = [set(unknown(names_of_schema(schema, schema), real_values(release, chart)[NFD])) for chart in OPERATORS]
    assert set.intersection(*missing) - GIVEN_BY_HELM - OF_ITS_OWN_CHART == set()


@EVERY
def test_defaults_that_decide_what_runs_are_the_real_ones(release: str, chart: str) -> None:
    is_candidate = CANDIDATE in REAL[release, chart]

    def different(mine: Tree, theirs: Tree, path: str = "") -> Iterator[str]:
        for name, value in mine.items():
            real = theirs.get(name)
            if isinstance(value, dict) and isinstance(real, dict):
                yield from different(value, real, f"{path}.{name}")
            elif is_candidate and (name in PLACES or str(real).replace(CANDIDATE, FINAL) == value):
                continue
            elif value != real and not (value in ({}, []) and name in {"affinity", "annotations"}):
                yield f"{path}.{name}: {value}, really {real}"

    assert list(different(our_values(release, chart), real_values(release, chart))) == []


@pytest.mark.parametrize(("release", "chart"), [*CHARTS, ("26.4", DRA_DRIVER), ("26.4", NFD)])
def test_schema_closes_every_level_that_it_describes(release: str, chart: str) -> None:
    def open_levels(schema: Tree, path: str) -> Iterator[str]:
        if "properties" in schema and schema.get("additionalProperties") is not False:
            yield path
        for name, child in {**(schema.get("properties") or {}), **(schema.get("definitions") or {})}.items():
            yield from open_levels(child, f"{path}.{name}")

    assert list(open_levels(schema_of(release, chart), "")) == []


@pytest.mark.parametrize(
    ("release", "chart", "version"),
    [
        ("26.4", "network-operator", "26.4.1"),
        ("26.4", "gpu-operator", "v26.3.3"),
        ("26.4", DRA_DRIVER, "0.4.1"),
        ("26.7", "network-operator", "26.7.0"),
        ("26.7", "gpu-operator", "v26.7.0"),
    ],
)
def test_chart_version_is_the_real_one_and_says_that_it_is_a_stand_in(release: str, chart: str, version: str) -> None:
    about = yaml.safe_load((chart_of(release, chart) / "Chart.yaml").read_text())
    assert about["version"] == version
    assert about["appVersion"].endswith("-stand-in")
