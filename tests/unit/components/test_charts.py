"""The source of a chart, and the merge of the values that people write."""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.versions import Chart
from aks_infiniband.operators.charts import ChartSource, ValuesError, chart_source, given_values, merge

from tests.unit.components.stack_files import changed, mistakes

NVIDIA = Chart(name="network-operator", repository="https://helm.ngc.nvidia.com/nvidia", version="26.4.1")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("network-operator", "https://helm.ngc.nvidia.com/nvidia", "26.4.1")),
        ({"version": "26.7.0"}, ("network-operator", "https://helm.ngc.nvidia.com/nvidia", "26.7.0")),
        ({"repository": "https://charts.example"}, ("network-operator", "https://charts.example", "26.4.1")),
        ({"name": "oci://acr.example/network-operator"}, ("oci://acr.example/network-operator", None, "26.4.1")),
        ({"name": "./charts/network-operator"}, ("./charts/network-operator", None, None)),
        ({"name": "network-operator-26.4.1.tgz"}, ("network-operator-26.4.1.tgz", None, None)),
    ],
)
def test_a_chart_is_nvidias_but_for_what_the_settings_say(given: Any, expected: Any) -> None:
    name, repository, version = expected
    assert chart_source(NVIDIA, **given) == ChartSource(name=name, repository=repository, version=version)


@pytest.mark.parametrize(
    ("location", "given", "expected"),
    [
        ("https://mirror.example/charts", {}, ("network-operator", "https://mirror.example/charts", "26.4.1")),
        ("oci://acr.example/charts", {}, ("oci://acr.example/charts/network-operator", None, "26.4.1")),
        (
            "oci://acr.example/charts",
            {"version": "26.7.0"},
            ("oci://acr.example/charts/network-operator", None, "26.7.0"),
        ),
        ("oci://acr.example/charts", {"name": "./charts/network-operator"}, ("./charts/network-operator", None, None)),
        (
            "oci://acr.example/charts",
            {"repository": "https://charts.example"},
            ("network-operator", "https://charts.example", "26.4.1"),
        ),
    ],
)
def test_a_registry_takes_the_place_of_nvidias_but_not_of_what_the_chart_setting_says(
    location: Any, given: Any, expected: Any
) -> None:
    name, repository, version = expected
    assert chart_source(NVIDIA, **given, location=location) == ChartSource(
        name=name, repository=repository, version=version
    )


def test_the_stacks_values_go_over_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("operator: {replicas: 1, image: x}\n")
    assert given_values(str(file), {"operator": {"replicas": 2}}) == {"operator": {"replicas": 2, "image": "x"}}


@pytest.mark.parametrize(("content", "reason"), [("- a", "must hold a mapping"), ("a: [", "is not YAML")])
def test_a_values_file_that_is_no_mapping_is_refused(tmp_path: Path, content: Any, reason: Any) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(content)
    with pytest.raises(ValuesError, match=reason):
        given_values(str(file), {})


def test_a_values_file_that_is_missing_is_named() -> None:
    with pytest.raises(ValuesError, match=r"valuesFile is 'nowhere\.yaml', which cannot be read"):
        given_values("nowhere.yaml", {})


def test_a_given_value_equal_to_the_derived_one_is_no_conflict() -> None:
    assert merge({"nfd": {"enabled": True}}, {"nfd": {"enabled": True}}, chart="network-operator") == {
        "nfd": {"enabled": True}
    }


def test_a_mapping_that_is_given_as_something_else_is_a_conflict() -> None:
    with pytest.raises(ValuesError, match=r"nfd is None; it must be \{'enabled': True\}"):
        merge({"nfd": None}, {"nfd": {"enabled": True}}, chart="network-operator")


@pytest.mark.parametrize(
    ("section", "values", "key"),
    [
        ("networkOperator", {"upgradeCRDs": False}, "upgradeCRDs"),
        ("gpuOperator", {"operator": {"upgradeCRD": False}}, "operator.upgradeCRD"),
        ("gpuOperator", {"operator": {"upgradeCRD": None}}, "operator.upgradeCRD"),
    ],
)
def test_values_that_keep_a_chart_from_upgrading_its_definitions_are_refused_by_their_key(
    section: str, values: Any, key: str
) -> None:
    found = mistakes(changed(**{section: {"values": values}}))
    assert list(found) == [f"{section}.values.{key}"]
    assert "it must be True: leave it out" in found[f"{section}.values.{key}"]


@pytest.mark.parametrize("given", [{}, {"upgradeCRDs": True}])
def test_the_hook_that_upgrades_definitions_is_left_as_the_chart_has_it(given: Any) -> None:
    """Sending the chart's own default would change every release that is deployed."""
    assert merge(given, {"nfd": {"enabled": True}}, chart="network-operator") == {"nfd": {"enabled": True}, **given}
