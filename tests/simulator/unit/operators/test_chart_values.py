"""The stand-in charts take what the components set, by the real charts' names."""

import json
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.registry import SOURCES, Registry
from jsonschema import Draft7Validator

CHARTS = Path(__file__).parents[4] / "rehearsal" / "charts"
MIRROR = Registry(images="mirror.example/all", pull_secret="mirror")
NFD = "node-feature-discovery"


def pool(owner: str) -> Pool:
    facts: dict[str, Any] = {"gpu_driver": owner, "mode": "rdma-shared", "nic_driver": "doca-ofed"}
    size = SIZES["Standard_ND96isr_H100_v5"]
    return Pool(name="nd", size=size, node_count=2, node_selector={"a": "b"}, **facts)


def complaints(chart: str, values: dict[str, Any]) -> list[str]:
    schema = json.loads((CHARTS / chart / "values.schema.json").read_text())
    return [f"{error.json_path}: {error.message}" for error in Draft7Validator(schema).iter_errors(values)]


@pytest.mark.parametrize("registry", [SOURCES, MIRROR], ids=["sources", "mirror"])
def test_the_network_operators_chart_takes_our_values(registry: Registry) -> None:
    values = network_operator_values([pool("operator")], registry=registry)
    assert complaints("network-operator", values) == []
    assert complaints(NFD, values[NFD]) == []


@pytest.mark.parametrize("registry", [SOURCES, MIRROR], ids=["sources", "mirror"])
@pytest.mark.parametrize("owner", ["operator", "aks"])
def test_the_gpu_operators_chart_takes_our_values(owner: str, registry: Registry) -> None:
    version = "580.126.20" if owner == "operator" else None
    values = gpu_operator_values([pool(owner)], options=OperatorOptions(driver_version=version, registry=registry))
    assert complaints("gpu-operator", values) == []


def test_a_name_that_the_real_chart_lacks_is_told_by_its_path() -> None:
    assert complaints("gpu-operator", {"driver": {"verison": "1"}}) == [
        "$.driver: Additional properties are not allowed ('verison' was unexpected)"
    ]
