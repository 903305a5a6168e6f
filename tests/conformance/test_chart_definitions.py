"""The real charts keep their own definitions current, and nothing that we set keeps them from it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.network_operator import network_operator_values

from tests.conformance.facts import GPU, GPU_LATER, NETWORK, NETWORK_LATER, chart_values
from tests.some_pools import pool

CHARTS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    **dict.fromkeys((NETWORK, NETWORK_LATER), (("upgradeCRDs",), network_operator_values)),
    **dict.fromkeys((GPU, GPU_LATER), (("operator", "upgradeCRD"), gpu_operator_values)),
}


def at(values: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        values = values.get(key, {})
    return values


@pytest.mark.field_report("B11")
@pytest.mark.parametrize("chart", CHARTS)
def test_definitions_are_upgraded_with_their_chart(chart: str) -> None:
    path, derived = CHARTS[chart]
    assert at(chart_values(chart), path) is True
    assert at(derived([pool()]), path) in ({}, True)


@pytest.mark.field_report("B11")
def test_no_values_file_that_stacks_share_turns_that_off() -> None:
    shared = Path(__file__).parents[2] / "values"
    for name, path in {"network-operator": ("upgradeCRDs",), "gpu-operator": ("operator", "upgradeCRD")}.items():
        values = yaml.safe_load((shared / f"{name}.yaml").read_text()) or {}
        assert at(values, path) in ({}, True), name
