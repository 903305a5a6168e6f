"""The stack file of a rehearsal is a person's own, plus what an air-gapped user could have written."""

from pathlib import Path

import pytest

from rehearsal import stack_file

CHARTS = {"networkOperator": Path("/charts/network-operator"), "gpuOperator": Path("/charts/gpu-operator")}


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def test_an_unknown_stack_names_the_stacks_there_are(tmp_path: Path) -> None:
    write(tmp_path, "Pulumi.dev.yaml", "config: {}")
    write(tmp_path, "Pulumi.sriov.yaml", "config: {}")
    with pytest.raises(stack_file.StackFileError, match=r"'prod' has no file Pulumi\.prod\.yaml.*dev, sriov"):
        stack_file.read(tmp_path, "prod")


def test_a_stack_file_that_is_not_a_mapping_is_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path, "Pulumi.dev.yaml", "- config")
    with pytest.raises(stack_file.StackFileError, match=r"Pulumi\.dev\.yaml must be a mapping"):
        stack_file.read(tmp_path, "dev")


def test_a_persons_settings_survive_and_the_charts_come_from_the_given_folder() -> None:
    document = {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared", "chart": {"version": "1"}}}}
    config = stack_file.rehearsed(document, charts=CHARTS, speed=60, salt="v1:salt")["config"]
    assert config["aks-infiniband:networkOperator"] == {
        "mode": "rdma-shared",
        "chart": {"name": "/charts/network-operator"},
    }
    assert config["aks-infiniband:gpuOperator"] == {"chart": {"name": "/charts/gpu-operator"}}


def test_states_are_polled_faster() -> None:
    document = {"config": {"aks-infiniband:readiness": {"pollSeconds": 30}}}
    readiness = stack_file.rehearsed(document, charts=CHARTS, speed=60, salt="s")["config"]["aks-infiniband:readiness"]
    assert readiness == {"timeoutSeconds": 120, **stack_file.POLLING}


@pytest.mark.parametrize(
    ("given", "speed", "limit"),
    [
        pytest.param({}, 60, 120, id="two hours pass in two minutes"),
        pytest.param({"timeoutSeconds": 2700}, 60, 120, id="a real deployment's patience is too long"),
        pytest.param({"timeoutSeconds": 20}, 60, 20, id="a shorter one is kept"),
        pytest.param({}, 600, 120, id="never less than this machine may need"),
        pytest.param({}, 1, 7200, id="in real time as long as in reality"),
    ],
)
def test_a_wait_that_is_in_vain_ends_in_the_rehearsals_time(given: dict[str, int], speed: float, limit: float) -> None:
    document = {"config": {"aks-infiniband:readiness": given}}
    config = stack_file.rehearsed(document, charts=CHARTS, speed=speed, salt="s")["config"]
    assert config["aks-infiniband:readiness"]["timeoutSeconds"] == limit


def test_secrets_cannot_be_opened_so_they_become_words_and_the_owners_keys_are_left_out() -> None:
    document = {
        "encryptionsalt": "theirs",
        "secretsprovider": "azurekeyvault://vault",
        "encryptedkey": "key",
        "config": {"app:token": {"secure": "v1:abc"}, "app:list": [{"inner": {"secure": "v1:def"}}]},
    }
    rehearsed = stack_file.rehearsed(document, charts=CHARTS, speed=60, salt="ours")
    assert rehearsed["encryptionsalt"] == "ours"
    assert "secretsprovider" not in rehearsed
    assert "encryptedkey" not in rehearsed
    assert rehearsed["config"]["app:token"] == "secret-not-known-to-a-rehearsal"
    assert rehearsed["config"]["app:list"] == [{"inner": "secret-not-known-to-a-rehearsal"}]


def test_the_document_that_came_in_is_left_as_it_was() -> None:
    document = {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared"}}}
    stack_file.rehearsed(document, charts=CHARTS, speed=60, salt="s")
    assert document == {"config": {"aks-infiniband:networkOperator": {"mode": "rdma-shared"}}}


def test_a_chart_is_found_as_a_folder_or_as_an_archive(tmp_path: Path) -> None:
    (tmp_path / "network-operator").mkdir()
    write(tmp_path, "network-operator/Chart.yaml", "name: network-operator")
    write(tmp_path, "gpu-operator-v26.3.3.tgz", "")
    assert stack_file.find_charts(tmp_path) == {
        "networkOperator": tmp_path / "network-operator",
        "gpuOperator": tmp_path / "gpu-operator-v26.3.3.tgz",
    }


def test_a_missing_chart_is_named_with_the_folder(tmp_path: Path) -> None:
    with pytest.raises(stack_file.StackFileError, match=f"CHARTS={tmp_path} holds no chart network-operator"):
        stack_file.find_charts(tmp_path)
