"""The doctor and the check before a job's program say the same of an environment that takes InfiniBand away."""

import os
import subprocess
from pathlib import Path

import pytest
from aks_infiniband.workload.environment import nccl_environment
from aks_infiniband.workload.environment_away import VARIABLES, taken_away

CHECK = Path(__file__).parents[3] / "components/aks_infiniband/workload/require_infiniband.sh"
TAKES = [(each["name"], value) for each in VARIABLES for value in each["takes"]]
KEEPS = [(each["name"], value) for each in VARIABLES for value in each["keeps"]]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folder in which the kernel of a machine with an Active link keeps the files that the check reads."""
    folder = tmp_path_factory.mktemp("machine")
    port = folder / "class/infiniband/mlx5_ib0/ports/1"
    port.mkdir(parents=True)
    (port / "link_layer").write_text("InfiniBand\n")
    (port / "state").write_text("4: ACTIVE\n")
    (folder / "dev").mkdir()
    for device in ("uverbs0", "nvidia0"):
        (folder / "dev" / device).touch()
    (folder / "limits").write_text("Max locked memory         unlimited            unlimited            bytes\n")
    (folder / "status").write_text("CapEff:\t000001ffffffffff\n")
    places = {"SYS_CLASS": "class", "DEVICES": "dev", "LIMITS": "limits", "STATUS": "status", "CONFIG": "none"}
    places["GPUS"] = "dev"
    return {"PATH": os.environ["PATH"], "TOLD": "/dev/null"} | {key: f"{folder}/{at}" for key, at in places.items()}


def check(machine: dict[str, str], **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", str(CHECK)], env={**machine, **environment}, check=False, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "value"), TAKES)
def test_both_name_what_takes_infiniband_away_with_the_same_words(
    name: str, value: str, machine: dict[str, str]
) -> None:
    ((given, says, fix),) = taken_away({name: value}, gpus=True)
    assert given == f"{name}={value}"
    code, said = check(machine, **{name: value})
    assert code == 1
    assert f"{given} {says}" in said
    assert fix.split(",")[0] in said
    assert fix.rpartition("set ")[2] in said


@pytest.mark.parametrize(("name", "value"), KEEPS)
def test_neither_names_what_keeps_infiniband(name: str, value: str, machine: dict[str, str]) -> None:
    assert [*taken_away({name: value}, gpus=True)] == []
    assert check(machine, **{name: value})[0] == 0


def test_the_cure_of_ucx_keeps_the_memory_of_gpus(machine: dict[str, str]) -> None:
    code, said = check(machine, UCX_TLS="tcp,cuda_copy,cuda_ipc")
    assert code == 1
    assert "cuda_copy,cuda_ipc" in said.rpartition("UCX_TLS=")[2]


def test_a_list_of_open_mpis_that_ucx_makes_harmless_is_not_named(machine: dict[str, str]) -> None:
    environment = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ucx"}
    assert [*taken_away(environment, gpus=True)] == []
    assert check(machine, **environment)[0] == 0


@pytest.mark.parametrize("nccl", ["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"])
@pytest.mark.parametrize("variable", [("OMPI_MCA_btl", "tcp,self"), ("OMPI_MCA_pml", "ob1")])
def test_open_mpi_may_start_the_ranks_over_tcp_where_nccl_carries_the_data(
    nccl: str, variable: tuple[str, str], machine: dict[str, str]
) -> None:
    environment = dict([variable]) | {nccl: "eth0" if nccl == "NCCL_SOCKET_IFNAME" else "mlx5_ib"}
    assert [*taken_away(environment, gpus=True)] == []
    assert check(machine, **environment)[0] == 0


@pytest.mark.parametrize("variable", [("OMPI_MCA_btl", "tcp,self"), ("OMPI_MCA_pml", "ob1")])
def test_open_mpi_over_tcp_is_named_without_gpus_whatever_nccl_is_told(
    variable: tuple[str, str], machine: dict[str, str], tmp_path: Path
) -> None:
    environment = dict([variable]) | {"NCCL_SOCKET_IFNAME": "eth0"}
    assert [given for given, _, _ in taken_away(environment, gpus=False)] == ["=".join(variable)]
    assert check(machine, **environment, GPUS=str(tmp_path))[0] == 1


@pytest.mark.parametrize("variable", [("UCX_TLS", "tcp"), ("FI_PROVIDER", "tcp")])
def test_other_libraries_are_named_whatever_nccl_is_told(variable: tuple[str, str], machine: dict[str, str]) -> None:
    environment = dict([variable]) | {"NCCL_SOCKET_IFNAME": "eth0"}
    assert [given for given, _, _ in taken_away(environment, gpus=True)] == ["=".join(variable)]
    assert check(machine, **environment)[0] == 1


def test_our_own_environment_takes_nothing_away() -> None:
    assert [*taken_away(nccl_environment(), gpus=True)] == []
    assert [*taken_away(nccl_environment("roce"), gpus=True)] == []
