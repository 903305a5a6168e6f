"""Our charts take the real charts' names, and no other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.facts import GPU, NETWORK, chart_values, facts

CHARTS = Path(__file__).parents[2] / "rehearsal" / "charts"
REAL = {"network-operator": NETWORK, "gpu-operator": GPU}
NFD = "node-feature-discovery"

Tree = dict[str, Any]


def real_values(chart: str) -> Tree:
    return chart_values(REAL[chart])


def schema_of(chart: str) -> Tree:
    schema: Tree = json.loads((CHARTS / chart / "values.schema.json").read_text())
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


@pytest.mark.parametrize("chart", REAL)
def test_every_default_value_is_one_of_the_real_chart(chart: str) -> None:
    values = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
    assert unknown(names_of_values(values), real_values(chart)) == []


@pytest.mark.parametrize("chart", REAL)
def test_every_name_that_the_schema_allows_is_one_of_the_real_chart(chart: str) -> None:
    schema = schema_of(chart)
    names = set(unknown(names_of_schema(schema, schema), real_values(chart)))
    commented_out = facts(f"{REAL[chart]}/chart-values.yaml")["commented-out"]
    assert names - GIVEN_BY_HELM - ONLY_IN_THE_TEMPLATE.get(chart, set()) - set(commented_out) == set()


def test_feature_discovery_takes_only_what_the_real_charts_set_for_theirs() -> None:
    schema = schema_of(NFD)
    missing = [set(unknown(names_of_schema(schema, schema), real_values(chart)[NFD])) for chart in REAL]
    assert set.intersection(*missing) - GIVEN_BY_HELM - OF_ITS_OWN_CHART == set()


@pytest.mark.parametrize("chart", REAL)
def test_defaults_that_decide_what_runs_are_the_real_ones(chart: str) -> None:
    ours = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
    real = real_values(chart)

    def different(mine: Tree, theirs: Tree, path: str = "") -> Iterator[str]:
        for name, value in mine.items():
            if isinstance(value, dict) and isinstance(theirs.get(name), dict):
                yield from different(value, theirs[name], f"{path}.{name}")
            elif value != theirs.get(name) and not (value in ({}, []) and name in {"affinity", "annotations"}):
                yield f"{path}.{name}: {value}, really {theirs.get(name)}"

    assert list(different(ours, real)) == []


@pytest.mark.parametrize("chart", [*REAL, NFD])
def test_schema_closes_every_level_that_it_describes(chart: str) -> None:
    def open_levels(schema: Tree, path: str) -> Iterator[str]:
        if "properties" in schema and schema.get("additionalProperties") is not False:
            yield path
        for name, child in {**(schema.get("properties") or {}), **(schema.get("definitions") or {})}.items():
            yield from open_levels(child, f"{path}.{name}")

    assert list(open_levels(schema_of(chart), "")) == []


@pytest.mark.parametrize(("chart", "version"), [("network-operator", "26.4.1"), ("gpu-operator", "v26.3.3")])
def test_chart_version_is_the_real_one_and_says_that_it_is_a_stand_in(chart: str, version: str) -> None:
    about = yaml.safe_load((CHARTS / chart / "Chart.yaml").read_text())
    assert about["version"] == version
    assert about["appVersion"].endswith("-stand-in")
