"""The sample program's words on a machine, and the conditions of its failure."""

import sys
from pathlib import Path

import pytest
from aks_infiniband.workload.sample import show_infiniband


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with two HCAs and the Ethernet device, all of whose device nodes the container has."""
    for index, (name, layer) in enumerate([("mlx5_0", "InfiniBand"), ("mlx5_1", "InfiniBand"), ("mlx5_2", "Ethernet")]):
        port = tmp_path / "sys/infiniband" / name / "ports/1"
        (port / "pkeys").mkdir(parents=True)
        files = {"link_layer": layer, "state": "4: ACTIVE", "rate": "400 Gb/sec (4X NDR)", "pkeys/0": "0x8001"}
        for path, text in files.items():
            (port / path).write_text(f"{text}\n")
        verbs = tmp_path / "sys/infiniband_verbs" / f"uverbs{index}"
        verbs.mkdir(parents=True)
        (verbs / "ibdev").write_text(f"{name}\n")
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / f"uverbs{index}").touch()
    (tmp_path / "sys/net/eth0").mkdir(parents=True)
    return tmp_path


def show(machine: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    paths = ["--sys-class", str(machine / "sys"), "--devices", str(machine / "dev")]
    monkeypatch.setattr(sys, "argv", ["show_infiniband.py", "--hcas", "2", *paths, *arguments])
    return show_infiniband.main()


@pytest.mark.field_report("A2b")
def test_a_whole_machine_is_shown_and_devices_are_known_by_their_link_layer(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NCCL_NET", "IB")
    assert show(machine, monkeypatch) == 0
    said = capsys.readouterr()
    assert "mlx5_0: 4: ACTIVE, 400 Gb/sec (4X NDR), partition 0x8001, uverbs0" in said.out
    assert "mlx5_2" not in said.out
    assert "NCCL_NET=IB" in said.out
    assert said.err == ""


def test_a_link_that_is_down_fails_the_pod(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine / "sys/infiniband/mlx5_1/ports/1/state").write_text("1: DOWN\n")
    assert show(machine, monkeypatch) == 1
    assert capsys.readouterr().err == "missing: 1 of 2 HCAs can be used here\nmissing: mlx5_1 is 1: DOWN\n"


@pytest.mark.field_report("C1")
def test_a_container_without_a_device_node_fails_the_pod(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine / "dev/uverbs0").unlink()
    assert show(machine, monkeypatch) == 1
    assert "missing: mlx5_0 does not have a device node in this container" in capsys.readouterr().err


def test_a_missing_ipoib_interface_fails_the_pod(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(machine, monkeypatch, "--interface=net1") == 1
    assert capsys.readouterr().err == "missing: the interface net1 does not exist\n"


def test_a_topology_file_that_is_not_there_fails_the_pod(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NCCL_TOPO_FILE", str(machine / "topology.xml"))
    assert show(machine, monkeypatch) == 1
    assert "topology.xml, which NCCL_TOPO_FILE names" in capsys.readouterr().err
    (machine / "topology.xml").touch()
    assert show(machine, monkeypatch) == 0
