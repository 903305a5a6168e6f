"""The stack file of a rehearsal is a person's own, plus what an air-gapped user could have written."""

import json
from pathlib import Path
from typing import Any

import pytest

from rehearsal.stack import stack_file
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS

CHARTS = {"networkOperator": Path("/charts/network-operator"), "gpuOperator": Path("/charts/gpu-operator")}


PREFLIGHT = "aks-infiniband:preflight"


LIMITS = {"readiness": 120, "validation": 240}


def rehearsed(document: dict[str, Any], salt: str = "s") -> dict[str, Any]:
    cluster: dict[str, Any] = {"kubeconfig": Path("/run/kubeconfig"), "context": "rehearsal"}
    return stack_file.rehearsed(document, charts=CHARTS, limits=LIMITS, salt=salt, **cluster)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_an_unknown_stack_names_the_stacks_there_are(tmp_path: Path) -> None:
    write(tmp_path, "Pulumi.dev.yaml", "config: {}")
    write(tmp_path, "Pulumi.sriov.yaml", "config: {}")
    with pytest.raises(stack_file.StackFileError, match=r"'prod' does not have a file Pulumi\.prod\.yaml.*dev, sriov"):
        stack_file.read(tmp_path, "prod")


def test_a_stack_file_that_is_not_a_mapping_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "Pulumi.dev.yaml", "- config")
    with pytest.raises(stack_file.StackFileError, match=r"Pulumi\.dev\.yaml must be a mapping"):
        stack_file.read(tmp_path, "dev")


def test_a_persons_settings_survive_and_the_charts_come_from_the_given_folder() -> None:
    document = {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared", "chart": {"version": "1"}}}}
    config = rehearsed(document)["config"]
    assert config["aks-infiniband:networkOperator"] == {
        "mode": "rdma-shared",
        "chart": {"name": "/charts/network-operator"},
    }
    assert config["aks-infiniband:gpuOperator"] == {"chart": {"name": "/charts/gpu-operator"}}


def test_states_are_polled_faster() -> None:
    document = {"config": {"aks-infiniband:readiness": {"pollSeconds": 30}}}
    readiness = rehearsed(document)["config"]["aks-infiniband:readiness"]
    assert readiness == {"timeoutSeconds": 120, **stack_file.POLLING}


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        pytest.param({}, 120, id="nothing"),
        pytest.param({"timeoutSeconds": 2700}, 120, id="a real deployment's patience is too long"),
        pytest.param({"timeoutSeconds": 20}, 20, id="a shorter one is kept"),
    ],
)
def test_a_wait_that_is_in_vain_ends_in_the_rehearsals_time(given: dict[str, int], limit: float) -> None:
    document = {"config": {"aks-infiniband:readiness": given}}
    assert rehearsed(document)["config"]["aks-infiniband:readiness"]["timeoutSeconds"] == limit


def test_secrets_cannot_be_opened_so_they_become_words_and_the_owners_keys_are_left_out() -> None:
    document = {
        "encryptionsalt": "theirs",
        "secretsprovider": "azurekeyvault://vault",
        "encryptedkey": "key",
        "config": {"app:token": {"secure": "v1:abc"}, "app:list": [{"inner": {"secure": "v1:def"}}]},
    }
    copy = rehearsed(document, salt="ours")
    assert copy["encryptionsalt"] == "ours"
    assert "secretsprovider" not in copy
    assert "encryptedkey" not in copy
    assert copy["config"]["app:token"] == "secret-not-known-to-a-rehearsal"
    assert copy["config"]["app:list"] == [{"inner": "secret-not-known-to-a-rehearsal"}]


def test_the_document_that_came_in_is_left_as_it_was() -> None:
    document = {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared"}}}
    rehearsed(document)
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


def test_every_secret_gets_a_value_under_the_path_that_the_engine_takes() -> None:
    document = {
        "config": {
            "app:token": {"secure": "v1:abc"},
            "app:list": [{"in.ner": {"secure": "v1:def"}}, "plain"],
            "aks-infiniband:registryCredentials": {"secure": "v1:ghi"},
            "aks-infiniband:registry": {"images": "registry.example.net/mirror"},
        }
    }
    values = stack_file.secrets(document)
    assert list(values) == ["app:token", 'app:list[0]["in.ner"]', "aks-infiniband:registryCredentials"]
    [registry] = json.loads(values["aks-infiniband:registryCredentials"])["auths"]
    assert registry == "registry.example.net"


def test_a_stack_file_without_secrets_needs_none() -> None:
    assert stack_file.secrets({"config": {"app:word": "plain"}}) == {}


def test_an_existing_cluster_is_the_rehearsals_own() -> None:
    given = {"kubeconfig": "~/.kube/config", "context": "theirs", "systemNodeSelector": {"a": "b"}}
    config = rehearsed({"config": {"aks-infiniband:existingCluster": given}})["config"]
    assert config["aks-infiniband:existingCluster"] == {
        "kubeconfig": "/run/kubeconfig",
        "context": "rehearsal",
        "systemNodeSelector": {"a": "b"},
    }
    unnamed = rehearsed({"config": {"aks-infiniband:existingCluster": {}}})["config"]
    assert unnamed["aks-infiniband:existingCluster"] == {"kubeconfig": "/run/kubeconfig"}
    assert "aks-infiniband:existingCluster" not in rehearsed({"config": {}})["config"]


def test_a_rehearsal_asks_azure_nothing() -> None:
    for asked in (True, "true"):
        assert rehearsed({"config": {PREFLIGHT: asked}})["config"][PREFLIGHT] is False


def test_a_wrong_word_for_the_preflight_is_left_to_the_program() -> None:
    assert rehearsed({"config": {PREFLIGHT: "yes"}})["config"][PREFLIGHT] == "yes"


def test_a_registry_of_charts_stays_and_the_path_of_each_chart_wins() -> None:
    registry = {"charts": "oci://registry.example.net/charts", "images": "registry.example.net"}
    config = rehearsed({"config": {"aks-infiniband:registry": registry}})["config"]
    assert config["aks-infiniband:registry"] == registry
    assert config["aks-infiniband:gpuOperator"]["chart"] == {"name": "/charts/gpu-operator"}


def test_files_that_a_person_names_stay_relative_to_the_project() -> None:
    given = {
        "aks-infiniband:networkOperator": {"valuesFile": "values/mine.yaml"},
        "aks-infiniband:pools": [{"name": "a", "ncclTopology": "topologies/a.xml"}],
    }
    config = rehearsed({"config": given})["config"]
    assert config["aks-infiniband:networkOperator"]["valuesFile"] == "values/mine.yaml"
    assert config["aks-infiniband:pools"] == given["aks-infiniband:pools"]


def test_a_word_that_yaml_1_1_takes_for_a_truth_value_stays_the_word_that_it_is_to_the_engine(tmp_path: Path) -> None:
    write(tmp_path, "Pulumi.dev.yaml", "config: {aks-infiniband:validation: {mode: off}, app:labels: {gpu: yes}}")
    assert stack_file.read(tmp_path, "dev")["config"] == {
        "aks-infiniband:validation": {"mode": "off"},
        "app:labels": {"gpu": "yes"},
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("config: [\n", "is not YAML: did not find expected node content in line 2"),
        ("config:\n\taks-infiniband:pools: []", "is not YAML: found character that cannot start any token in line 2"),
        ("config: {}\n---\nconfig: {}", "is not YAML: but found another document in line 2"),
        ("[" * 100_000, "is nested more than 64 deep, in line 1"),
        ("config: &a {b: [*a]}", "holds a value that contains itself, in line 1"),
        ("config: {x: {mode: a, mode: b}}", "has the key 'mode' twice in one mapping, in line 1"),
        ("config: 5", "must be a mapping with a mapping `config`"),
        ("", "must be a mapping with a mapping `config`"),
    ],
)
def test_a_broken_stack_file_is_refused_by_name_and_line(tmp_path: Path, text: str, reason: str) -> None:
    write(tmp_path, "Pulumi.dev.yaml", text)
    with pytest.raises(stack_file.StackFileError) as refused:
        stack_file.read(tmp_path, "dev")
    assert str(refused.value) == f"Pulumi.dev.yaml {reason}"


def test_a_stack_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_bytes("config: {a:b: Gerät}".encode("latin-1"))
    with pytest.raises(stack_file.StackFileError, match=r"Pulumi\.dev\.yaml is not YAML: it is not text in UTF-8"):
        stack_file.read(tmp_path, "dev")


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
    assert rehearsed(document)["config"][f"aks-infiniband:{name}"] == value


@pytest.mark.parametrize("limit", ["30m", None, [60], {"seconds": 60}])
def test_a_limit_that_is_no_number_is_left_to_the_program(limit: Any) -> None:
    config = rehearsed({"config": {"aks-infiniband:readiness": {"timeoutSeconds": limit}}})["config"]
    assert config["aks-infiniband:readiness"]["timeoutSeconds"] == limit


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
    copies = [rehearsed({"config": config})["config"] for config in (as_text, given)]
    assert {**copies[0], "aks-infiniband:registry": sections["registry"]} == copies[1]
