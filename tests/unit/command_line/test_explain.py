"""`aks-infiniband init --explain`: the decision of a stack file that is there."""

import json
from pathlib import Path

import pytest
import yaml
from aks_infiniband_cli.main import main

ROOT = Path(__file__).parents[3]


def test_the_decision_of_a_stack_file_is_explained_for_each_pool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--explain", str(ROOT / "Pulumi.mixed.yaml"), "--output", "json"]) == 0
    pools = {pool["pool"]: pool for pool in json.loads(capsys.readouterr().out)["pools"]}
    assert {name: pool["transport"] for name, pool in pools.items()} == {"ndh100": "RDMA exclusive", "hbv3": "IPoIB"}
    assert all(pool["reasons"] for pool in pools.values())


def test_a_stack_file_for_an_existing_cluster_is_explained_where_nothing_reaches_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for context in ({}, {"context": "lab"}):
        document = yaml.safe_load((ROOT / "Pulumi.existing.yaml").read_text())
        document["config"]["aks-infiniband:existingCluster"] |= context
        (tmp_path / "Pulumi.lab.yaml").write_text(yaml.safe_dump(document))
        (tmp_path / "values").symlink_to(ROOT / "values")
        assert main(["init", "--explain", str(tmp_path / "Pulumi.lab.yaml")]) == 0
        (tmp_path / "values").unlink()
        assert "RDMA shared on 2 × Standard_ND96isr_H100_v5" in capsys.readouterr().out


def test_files_that_a_stack_file_names_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--explain", str(ROOT / "Pulumi.dev.yaml")]) == 0
    assert "RDMA shared" in capsys.readouterr().out


def test_a_stack_file_is_explained_where_the_projects_own_values_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main("init --workload training --gpus 16".split()) == 0  # noqa: SIM905 as it is typed
    assert main(["init", "--explain", "Pulumi.infiniband.yaml"]) == 0
    assert capsys.readouterr().out.count("RDMA exclusive on 2 × Standard_ND96isr_H100_v5") == 2
    file = Path("Pulumi.infiniband.yaml")
    file.write_text(file.read_text().replace("mode: sriov", "mode: sriov\n    valuesFile: mine.yaml"))
    assert main(["init", "--explain", str(file)]) == 2
    assert "mine.yaml" in capsys.readouterr().err


def test_a_stack_file_is_explained_by_itself_and_takes_no_answers(capsys: pytest.CaptureFixture[str]) -> None:
    explain = ["init", "--explain", str(ROOT / "Pulumi.dev.yaml")]
    assert main([*explain, "--workload", "mpi", "--no-verbs"]) == 2
    assert "leave out --workload, --verbs" in capsys.readouterr().err


def test_a_file_that_is_no_stack_file_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("hello")
    assert main(["init", "--explain", str(tmp_path / "text")]) == 2
    said = f"{tmp_path / 'text'} is not a stack file: config must be a mapping, key: value"
    assert capsys.readouterr().err == f"aks-infiniband init: {said}\n"


def test_a_stack_file_that_the_program_refuses_is_refused_with_its_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "Pulumi.bad.yaml"
    file.write_text("config:\n  aks-infiniband:pools: []\n")
    assert main(["init", "--explain", str(file)]) == 2
    assert "aks-infiniband:pools" in capsys.readouterr().err
