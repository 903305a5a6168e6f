"""The payload reads what the kernel shows, and never stumbles over what is not there."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.look.kernel import Roots, read_node

GPUS = r"nvidia\d+"


def test_a_healthy_node_is_read_as_the_kernel_prints_it(machine: Any) -> None:
    facts = read_node(machine, {"NCCL_IB_HCA": "^mlx5_an", "PATH": "/bin"}, GPUS)

    assert [hca["device"] for hca in facts["hcas"]] == [f"mlx5_ib{index}" for index in range(8)]
    assert facts["hcas"][3] == {
        "device": "mlx5_ib3",
        "pci_address": "0104:00:00.0",
        "firmware": "28.41.1000",
        "state": "ACTIVE",
        "physical_state": "LinkUp",
        "rate_gbps": 400.0,
        "partition_keys": ["0x8012", "0xffff"],
    }
    assert facts["uverbs"] == [f"uverbs{index}" for index in range(8)]
    assert facts["uverbs_of"]["mlx5_ib7"] == "uverbs7"
    assert facts["memlock_bytes"] == 8388608
    assert facts["ipc_lock"] is True
    assert facts["shm_bytes"] is not None
    assert facts["shm_bytes"] > 0
    assert facts["kernel"] == "6.8.0-1046-azure"


def test_the_ethernet_device_is_not_counted_as_an_hca(machine: Any) -> None:
    facts = read_node(machine, {}, GPUS)

    assert facts["ethernet_devices"] == ["mlx5_an0"]
    assert "mlx5_an0" not in [hca["device"] for hca in facts["hcas"]]


def test_only_device_files_of_gpus_are_counted_as_gpus(machine: Any) -> None:
    assert read_node(machine, {}, GPUS)["accelerator_devices"] == [f"nvidia{index}" for index in range(8)]
    assert read_node(machine, {}, None)["accelerator_devices"] == []


def test_amd_gpus_are_found_by_their_render_nodes(machine: Any) -> None:
    for index in (128, 129):
        path = machine.dev / f"dri/renderD{index}"
        path.parent.mkdir(exist_ok=True)
        path.touch()

    assert read_node(machine, {}, r"dri/renderD\d+")["accelerator_devices"] == ["dri/renderD128", "dri/renderD129"]


def test_only_the_environment_of_nccl_is_kept(machine: Any) -> None:
    assert read_node(machine, {"NCCL_DEBUG": "INFO", "SECRET": "x"}, GPUS)["environment"] == {"NCCL_DEBUG": "INFO"}


@pytest.mark.parametrize(
    ("printed", "rate"),
    [("200 Gb/sec (2X NDR)\n", 200.0), ("2.5 Gb/sec (1X SDR)\n", 2.5), ("nonsense\n", None)],
)
def test_the_rate_is_the_number_of_gigabits(machine: Any, printed: Any, rate: Any) -> None:
    (machine.sys / "class/infiniband/mlx5_ib2/ports/1/rate").write_text(printed)

    assert read_node(machine, {}, GPUS)["hcas"][2]["rate_gbps"] == rate


def test_an_unlimited_memlock_is_minus_one(machine: Any) -> None:
    (machine.proc / "self/limits").write_text(
        "Max locked memory         unlimited            unlimited            bytes\n"
    )

    assert read_node(machine, {}, GPUS)["memlock_bytes"] == -1


@pytest.mark.parametrize(
    ("mask", "granted"), [("0000000000004000", True), ("ffffffffffffbfff", False), ("0000000000000000", False)]
)
def test_ipc_lock_counts_only_when_it_is_effective(machine: Any, mask: Any, granted: Any) -> None:
    (machine.proc / "self/status").write_text(f"CapBnd:\t0000000000004000\nCapEff:\t{mask}\n")

    assert read_node(machine, {}, GPUS)["ipc_lock"] is granted


def test_a_machine_without_any_of_it_has_empty_facts(tmp_path: Any) -> None:
    nowhere = tmp_path / "nowhere"
    facts = read_node(Roots(nowhere, nowhere, nowhere, nowhere), {}, GPUS)

    assert facts == {
        "hcas": [],
        "ethernet_devices": [],
        "uverbs": [],
        "uverbs_of": {},
        "accelerator_devices": [],
        "memlock_bytes": None,
        "ipc_lock": False,
        "shm_bytes": None,
        "environment": {},
        "interfaces": {},
        "kernel": None,
    }


def test_interfaces_are_told_apart_by_their_type_and_have_the_addresses_that_multus_notes(
    machine: Any, tmp_path: Any
) -> None:
    for name, kind in (("eth0", "1"), ("net1", "32"), ("net2", "32")):
        (machine.sys / f"class/net/{name}").mkdir(parents=True)
        (machine.sys / f"class/net/{name}/type").write_text(f"{kind}\n")
    noted = tmp_path / "network-status"
    noted.write_text(
        '[{"name": "azure", "interface": "eth0", "ips": ["10.244.1.7"], "default": true},'
        '{"name": "aks-infiniband/aks-infiniband", "interface": "net1", "ips": ["192.168.0.3"]}]'
    )

    assert read_node(machine._replace(attachments=noted), {}, GPUS)["interfaces"] == {
        "eth0": {"infiniband": False, "addresses": ["10.244.1.7"]},
        "net1": {"infiniband": True, "addresses": ["192.168.0.3"]},
        "net2": {"infiniband": True, "addresses": []},
    }


@pytest.mark.parametrize("text", ["", "null", "not json", '{"interface": "net1"}', '["net1"]'])
def test_an_annotation_that_says_nothing_gives_no_addresses(machine: Any, tmp_path: Any, text: Any) -> None:
    noted = tmp_path / "network-status"
    noted.write_text(text)
    (machine.sys / "class/net/net1").mkdir(parents=True)

    found = read_node(machine._replace(attachments=noted), {}, GPUS)["interfaces"]
    assert found == {"net1": {"infiniband": False, "addresses": []}}
