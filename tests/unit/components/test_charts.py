"""The source of a chart, and the merge of the values that people write."""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.operators.charts import ValuesError, given_values

from tests.unit.components.stack_files import changed, mistakes


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
