"""The schema knows good stack files from bad ones."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband import load
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings
from jsonschema import Draft7Validator

from pages.schema import stack_file_schema
from tests.unit.components.stack_files import NODE_SUBNET, POD_SUBNET, changed, cluster, existing, pool

ROOT = Path(__file__).parents[3]
SCHEMA = stack_file_schema()
STACKS = sorted(path for path in ROOT.glob("Pulumi.*.yaml"))


def errors(config: Any) -> list[str]:
    return [error.json_path for error in Draft7Validator(SCHEMA).iter_errors({"config": config})]


def test_the_schema_is_one() -> None:
    Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_the_stack_files_of_the_project_are_right(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    shutil.copy(Path(__file__).with_name("kubeconfig.yaml"), tmp_path / ".kube" / "config")
    stack = yaml.safe_load(path.read_text())
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(stack)] == []
    assert load(stack["config"])


def test_there_are_stack_files() -> None:
    assert "Pulumi.dev.yaml" in [path.name for path in STACKS]


@pytest.mark.parametrize(
    "config",
    [
        changed(),
        {**changed(), "kubernetes:context": "mine", "aks-infiniband:registryCredentials": {"secure": "v1:xyz"}},
        changed(cluster=cluster(network={"nodeSubnetId": NODE_SUBNET, "podSubnetId": POD_SUBNET})),
        changed(networkOperator={"valuesFile": None, "values": {"anything": {"goes": ["here"]}}}),
        changed(pools=[pool(labels={"example.com/team": "a"}, taints=["a=b:NoSchedule"], zones=["1"])]),
        changed(validation={"thresholds": {"rdma-write-bandwidth": {"fail": 300}}}),
        existing(pool(nodeSelector={"pool": "a"})),
    ],
)
def test_what_is_right_has_no_errors(config: Any) -> None:
    assert errors(config) == []


def test_what_is_wrong_is_found_where_it_stands() -> None:
    for config, path in [
        (changed(pool=[]), "$.config"),
        (changed(existingCluster={}), "$.config"),
        ({"aks-infiniband:pools": [pool()]}, "$.config"),
        (changed(cluster=cluster(nam="x")), "$.config['aks-infiniband:cluster']"),
        (changed(cluster={"kubernetesVersion": 1.34}), "$.config['aks-infiniband:cluster'].kubernetesVersion"),
        (changed(pools=[]), "$.config['aks-infiniband:pools']"),
        (changed(pools=[pool(name="ND")]), "$.config['aks-infiniband:pools'][0].name"),
        (changed(pools=[pool(vmSize="H100")]), "$.config['aks-infiniband:pools'][0].vmSize"),
        (changed(pools=[pool(count="2")]), "$.config['aks-infiniband:pools'][0].count"),
        (changed(pools=[pool(mode="ib")]), "$.config['aks-infiniband:pools'][0].mode"),
        (changed(pools=[pool(taints=["x"])]), "$.config['aks-infiniband:pools'][0].taints[0]"),
        (changed(pools=[pool(labels={"a b": "c"})]), "$.config['aks-infiniband:pools'][0].labels"),
        (changed(sizes={"X": {}}), "$.config['aks-infiniband:sizes']"),
        (
            changed(validation={"thresholds": {"speed": {"fail": 1}}}),
            "$.config['aks-infiniband:validation'].thresholds",
        ),
        (
            {**changed(), "aks-infiniband:registryCredentials": "plain"},
            "$.config['aks-infiniband:registryCredentials']",
        ),
    ]:
        assert errors(config) == [path]


def test_an_editor_completes_the_sizes() -> None:
    size = SCHEMA["definitions"]["PoolSettings"]["properties"]["vmSize"]
    assert size["anyOf"][0]["enum"] == list(SIZES)


def test_every_key_of_the_models_is_in_the_schema_with_a_description() -> None:
    definitions = SCHEMA["definitions"]

    def missing(model: Any) -> Any:
        for name, field in model.model_fields.items():
            key, nested = field.alias or name, model_in(field.annotation)
            if model is not Settings:
                node = definitions[model.__name__]["properties"].get(key, {})
                if "description" not in node and not nested:
                    yield f"{model.__name__}.{key}"
            if nested:
                yield from missing(nested)

    assert list(missing(Settings)) == []
