"""The stack file of a rehearsal is a person's own, plus what an air-gapped user could have written."""

import json
from pathlib import Path
from typing import Any

import pytest

from rehearsal.stack import stack_file
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from tests.simulator.unit.command.cases.files import copy_of


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_the_document_that_came_in_is_left_as_it_was() -> None:
    document = {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared"}}}
    copy_of(document)
    assert document == {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared"}}}


def test_a_chart_is_found_as_a_folder_or_as_an_archive(tmp_path: Path) -> None:
    (tmp_path / "network-operator").mkdir()
    write(tmp_path, "network-operator/Chart.yaml", "name: network-operator")
    write(tmp_path, "gpu-operator-v26.3.3.tgz", "")
    assert stack_file.find_charts(tmp_path) == {
        "networkOperator": tmp_path / "network-operator",
        "gpuOperator": tmp_path / "gpu-operator-v26.3.3.tgz",
        "amdGpuOperator": STAND_IN_CHARTS / "gpu-operator-charts",
        "certManager": STAND_IN_CHARTS / "cert-manager",
        "draDriver": STAND_IN_CHARTS / "dra-driver-nvidia-gpu",
    }


def test_a_folder_may_have_amds_charts_too_and_they_are_not_taken_for_nvidias(tmp_path: Path) -> None:
    for name in ("network-operator-26.4.1", "gpu-operator-v26.3.3", "gpu-operator-charts-v1.5.1"):
        write(tmp_path, f"{name}.tgz", "")
    found = stack_file.find_charts(tmp_path)
    assert found["gpuOperator"] == tmp_path / "gpu-operator-v26.3.3.tgz"
    assert found["amdGpuOperator"] == tmp_path / "gpu-operator-charts-v1.5.1.tgz"


def test_a_missing_chart_is_named_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(stack_file.StackFileError, match=f"CHARTS={tmp_path} holds no chart network-operator"):
        stack_file.find_charts(tmp_path)


SECTIONS = (
    "readiness",
    "validation",
    "networkOperator",
    "gpuOperator",
    "existingCluster",
    "registry",
    "sizes",
    "pools",
)


@pytest.mark.parametrize("value", [None, "", "text", 7, True, 1.5, [], ["x"], "[", "[1]", "{", "[" * 100_000, [[{}]]])
@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_that_is_no_mapping_is_left_to_the_program(name: str, value: Any) -> None:
    document = {"config": {f"aks-infiniband:{name}": value}}
    stack_file.secrets(document)
    assert copy_of(document)["config"][f"aks-infiniband:{name}"] == value


def test_a_section_as_json_text_is_rehearsed_as_one_in_yaml() -> None:
    sections: dict[str, Any] = {
        "readiness": {"timeoutSeconds": 20},
        "networkOperator": {"mode": "sriov"},
        "existingCluster": {"context": "theirs"},
        "registry": {"images": "mirror.example/x"},
    }
    given = {f"aks-infiniband:{name}": value for name, value in sections.items()}
    as_text = {name: json.dumps(value) for name, value in given.items()}
    credentials = {"aks-infiniband:registryCredentials": {"secure": "v1:abc"}}
    assert stack_file.secrets({"config": {**as_text, **credentials}}) == stack_file.secrets(
        {"config": {**given, **credentials}}
    )
    copies = [copy_of({"config": config})["config"] for config in (as_text, given)]
    assert {**copies[0], "aks-infiniband:registry": sections["registry"]} == copies[1]
