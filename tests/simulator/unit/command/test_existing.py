"""The nodes of an existing cluster, from a stack file; and the sizes that a stack file describes."""

import json
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from rehearsal.azure.subscription import load
from rehearsal.run.sizes import describe_sizes, known_sizes
from rehearsal.stack import existing_nodes

POOL: dict[str, Any] = {
    "name": "ndh100",
    "vmSize": "Standard_ND96isr_H100_v5",
    "count": 2,
    "nodeSelector": {"example.com/fabric": "a"},
    "taints": ["sku=gpu:NoSchedule"],
}


NO_TEXT: list[Any] = ["Standard_Nothing", None, [], {}]


def nodes(*pools: Any, **existing_cluster: Any) -> dict[str, dict[str, Any]]:
    config = {"aks-infiniband:existingCluster": existing_cluster, "aks-infiniband:pools": list(pools)}
    made = existing_nodes.nodes(config, {**load().sizes, **SIZES}, kubelet_version="v1.36.3")
    return {node["metadata"]["name"]: node for node in made}


def machine(node: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = json.loads(node["metadata"]["annotations"][MACHINE_ANNOTATION])
    return found


def test_each_pool_has_its_nodes_with_its_labels_and_taints_and_no_label_of_aks() -> None:
    made = nodes(POOL)
    assert list(made) == ["system-0", "system-1", "ndh100-0", "ndh100-1"]
    node = made["ndh100-1"]
    labels = node["metadata"]["labels"]
    assert labels["example.com/fabric"] == "a"
    assert labels["node.kubernetes.io/instance-type"] == "Standard_ND96isr_H100_v5"
    assert not [key for key in labels if "azure" in key or key == "agentpool"]
    assert node["spec"]["taints"] == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    assert node["status"]["capacity"]["cpu"] == "96"
    assert "example.com/fabric" not in made["system-0"]["metadata"]["labels"]


def test_the_nodes_of_a_pool_share_a_fabric_and_pools_do_not() -> None:
    made = nodes(POOL, {**POOL, "name": "other"})
    fabrics = [machine(made[name])["fabric"] for name in ("ndh100-0", "ndh100-1", "other-0")]
    assert fabrics[0] == fabrics[1] != fabrics[2]


@pytest.mark.parametrize(
    ("owner", "driver"), [("aks", "Install"), ("operator", "None"), ("none", "None"), (None, "None")]
)
def test_a_driver_is_on_the_machines_where_aks_owns_it(owner: str | None, driver: str) -> None:
    node = nodes({**POOL, "gpuDriver": owner})["ndh100-0"]
    assert machine(node)["gpuDriver"] == driver
    assert ("kubernetes.azure.com/accelerator" in node["metadata"]["labels"]) == (driver == "Install")


def test_the_nodes_for_the_operators_carry_their_labels() -> None:
    made = nodes(POOL, systemNodeSelector={"node-role": "infra"})
    assert [made[f"system-{index}"]["metadata"]["labels"]["node-role"] for index in range(2)] == ["infra", "infra"]
    assert "node-role" not in made["ndh100-0"]["metadata"]["labels"]


def test_nodes_have_addresses_of_their_own() -> None:
    made = nodes(POOL, {**POOL, "name": "other"}).values()
    assert len({node["status"]["addresses"][0]["address"] for node in made}) == len(made)
    assert len({node["spec"]["podCIDR"] for node in made}) == len(made)


@pytest.mark.parametrize(
    "pool",
    [
        *("ndh100", None, 5, {"name": "x"}),
        *({**POOL, "name": value} for value in (None, 7, ["x"], "NDH100", "a b", "", "x" * 100, "../x")),
        *({**POOL, "vmSize": value} for value in NO_TEXT),
        *({**POOL, "count": value} for value in ("2", None, -1, 1.5, True, [2])),
        *({**POOL, key: value} for key in ("nodeSelector", "taints") for value in ("x", 7)),
    ],
)
def test_a_pool_that_the_program_will_refuse_has_no_nodes(pool: Any) -> None:
    assert list(nodes(pool)) == ["system-0", "system-1"]


@pytest.mark.parametrize("pools", [None, "text", 7, {}, "[", "[1]"])
def test_pools_that_are_no_list_have_no_nodes(pools: Any) -> None:
    config = {"aks-infiniband:existingCluster": {}, "aks-infiniband:pools": pools}
    assert len(list(existing_nodes.nodes(config, load().sizes, kubelet_version="v1.36.3"))) == 2


def test_sections_as_json_text_have_the_nodes_of_those_in_yaml() -> None:
    config = {"existingCluster": {"systemNodeSelector": {"a": "b"}}, "pools": [POOL]}
    given = {f"aks-infiniband:{key}": value for key, value in config.items()}
    as_text = {key: json.dumps(value) for key, value in given.items()}
    made = [list(existing_nodes.nodes(config, SIZES, kubelet_version="v1")) for config in (given, as_text)]
    assert made[0] == made[1] != []


def test_a_cluster_of_many_nodes_has_an_address_range_for_each() -> None:
    made = nodes(*({**POOL, "name": f"pool{number}", "count": 100} for number in range(3))).values()
    assert len({node["spec"]["podCIDR"] for node in made}) == len(made) == 302


def test_more_nodes_than_a_cluster_takes_are_left_to_the_program_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    assert existing_nodes.MOST_NODES == 5000
    monkeypatch.setattr(existing_nodes, "MOST_NODES", 50)
    assert len(nodes({**POOL, "count": 10**12})) == 50


INFINIBAND = {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7"}
DESCRIBED = {"vcpus": 12, "memoryGib": 34, "series": "ND_X", "infiniband": INFINIBAND}


def test_a_described_size_is_known_beside_the_catalogues(tmp_path: Path) -> None:
    assert known_sizes(tmp_path) == SIZES
    describe_sizes(tmp_path, {"Standard_X": DESCRIBED})
    assert known_sizes(tmp_path)["Standard_X"].infiniband.hca_count == 2
    assert set(known_sizes(tmp_path)) == {*SIZES, "Standard_X"}


def test_a_later_description_takes_the_place_of_the_earlier(tmp_path: Path) -> None:
    describe_sizes(tmp_path, {"Standard_X": DESCRIBED})
    assert known_sizes(tmp_path)["Standard_X"].vcpus == 12
    describe_sizes(tmp_path, {"Standard_Y": {**DESCRIBED, "vcpus": 13}})
    assert set(known_sizes(tmp_path)) == {*SIZES, "Standard_Y"}


@pytest.mark.parametrize(
    "given",
    [
        *(None, "text", 7, [], {}, {**DESCRIBED, "infiniband": {"generation": "NDR"}}),
        *({**DESCRIBED, "infiniband": value} for value in (None, "text", ["x"], 7)),
        *({**DESCRIBED, "infiniband": {**INFINIBAND, "hcaCount": value}} for value in ("2", None, 10**12, -1)),
        *({**DESCRIBED, "infiniband": {**INFINIBAND, "adapter": value}} for value in ("ConnectX-9", None, ["x"])),
        *({**DESCRIBED, "accelerator": value} for value in ("text", 7, {"count": 10**12}, {"count": 8})),
    ],
)
def test_what_describes_no_size_is_left_to_the_program_to_refuse(tmp_path: Path, given: Any) -> None:
    describe_sizes(tmp_path, {"Standard_X": given})
    assert known_sizes(tmp_path) == SIZES
