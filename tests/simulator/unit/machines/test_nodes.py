import json
from pathlib import Path
from typing import Any

import pytest

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.device_plugins import OfferedResource, gpus
from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.kubelet.device_manager import DeviceManager, asked_by_pod, refusal
from rehearsal.machines.nodes.feature_discovery import features_of
from rehearsal.machines.nodes.feature_rules import labels_of_rules
from rehearsal.machines.nodes.upkeep import mounted_file
from rehearsal.machines.pods.addresses import free_address
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.machines.pods.running import missing_config_maps
from rehearsal.run.sizes import describe_sizes

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")


def node(*, annotations: dict[str, str] | None = None, allocatable: dict[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"name": "node-0", "annotations": annotations or {}}, "status": {"allocatable": allocatable}}


def pod(
    uid: str = "0" * 32, *, asks: dict[str, Any] | None = None, phase: str = "Running", **spec: Any
) -> dict[str, Any]:
    container = {"name": "main", "resources": {"limits": asks or {}}}
    return {
        "metadata": {"uid": uid, "namespace": "ns", "name": uid},
        "spec": {"nodeName": "node-0", "containers": [container]} | spec,
        "status": {"phase": phase},
    }


def machine_node(**facts: str) -> dict[str, Any]:
    return node(annotations={"rehearsal.aks-infiniband/machine": json.dumps(facts)})


def test_a_node_without_or_with_a_broken_annotation_is_no_machine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert Inventory(tmp_path).machine(node()) is None
    assert Inventory(tmp_path).machine(machine_node()) is None
    assert "rehearsal.aks-infiniband/machine" in caplog.text


def test_a_rule_on_a_feature_that_does_not_exist_gives_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    rules = [{"name": "rule", "labels": {"a": "b"}, "matchFeatures": [{"feature": "pci.devices"}]}]
    assert labels_of_rules([{"metadata": {"name": "rule"}, "spec": {"rules": rules}}], features_of(H100, {}, "n")) == {}
    assert "feature 'pci.devices' is not available" in caplog.text


def test_a_size_that_a_stack_file_describes_is_known_as_soon_as_it_is_described(tmp_path: Path) -> None:
    inventory, described = Inventory(tmp_path), machine_node(size="Standard_ND200", fabric="one")
    before = inventory.machine(described)
    assert before is not None
    assert before.hardware.hcas == ()
    infiniband = {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7"}
    accelerator = {"vendor": "nvidia", "model": "R100", "count": 2, "memoryGb": 288}
    size = {"series": "ND200", "vcpus": 8, "memoryGib": 64, "infiniband": infiniband, "accelerator": accelerator}
    describe_sizes(tmp_path, {"Standard_ND200": size})
    after = inventory.machine(described)
    assert after is not None
    assert (len(after.hardware.hcas), len(after.hardware.gpus)) == (2, 2)


def test_a_plugin_reads_the_config_map_that_its_pod_mounts() -> None:
    volume = {"name": "c", "configMap": {"name": "mine", "items": [{"key": "other.json", "path": "config.json"}]}}
    maps = {
        ("ns", "mine"): {"data": {"other.json": "{}", "config.json": "not this"}},
        ("ns", "theirs"): {"data": {"config.json": "no"}},
    }
    assert mounted_file(pod(volumes=[volume]), maps, "config.json") == "{}"
    assert mounted_file(pod(), maps, "config.json") is None
    assert missing_config_maps(pod(volumes=[volume]), {}) == ["mine"]
    assert missing_config_maps(pod(volumes=[volume]), maps) == []


def test_a_kubelet_counts_what_other_running_pods_hold() -> None:
    machine = node(allocatable={"nvidia.com/gpu": "8"})
    holder, finished = pod("1", asks={"nvidia.com/gpu": "6"}), pod("2", asks={"nvidia.com/gpu": "6"}, phase="Succeeded")
    assert refusal(pod("3", asks={"nvidia.com/gpu": "2"}), machine, [holder, finished]) is None
    assert "Requested: 3, Available: 2" in str(
        refusal(pod("3", asks={"nvidia.com/gpu": "3"}), machine, [holder, finished])
    )


def test_exclusive_devices_are_held_by_one_pod_at_a_time_and_shared_ones_by_many() -> None:
    manager = DeviceManager()
    shared = OfferedResource(name="rdma/shared_ib", count=63, rdma_devices=H100.hcas, shared=True)
    exclusive = OfferedResource(name="rdma/ib", count=8, rdma_devices=H100.hcas)
    graphics = OfferedResource(name="nvidia.com/gpu", count=8, gpus=True)

    def held(uid: str, **asks: int) -> tuple[set[str], set[int]]:
        asking = pod(uid, asks={name.replace("_", "/", 1): count for name, count in asks.items()})
        devices = manager.allocate(asking, asking["spec"]["containers"][0], H100, [shared, exclusive, graphics])
        return {device.name for device in devices.rdma_devices}, {device.index for device in devices.gpus}

    assert (
        held("1", **{"rdma_shared_ib": 1})
        == held("2", **{"rdma_shared_ib": 1})
        == ({device.name for device in H100.hcas}, set())
    )
    assert held("3", **{"rdma_ib": 2, "nvidia.com_gpu": 2}) == ({"mlx5_0", "mlx5_1"}, {0, 1})
    assert held("4", **{"rdma_ib": 1}) == ({"mlx5_2"}, set())
    manager.release(pod("3"))
    assert held("5", **{"rdma_ib": 1, "nvidia.com_gpu": 1}) == ({"mlx5_0"}, {0})


def test_init_containers_hold_devices_that_the_containers_then_have_again() -> None:
    manager = DeviceManager()
    exclusive = OfferedResource(name="rdma/ib", count=8, rdma_devices=H100.hcas)
    asking = pod(asks={"rdma/ib": 4}, initContainers=[{"name": "first", "resources": {"limits": {"rdma/ib": 8}}}])
    held = manager.allocate_pod(asking, H100, [exclusive])
    assert {name: len(devices.rdma_devices) for name, devices in held.items()} == {"first": 8, "main": 4}
    assert asked_by_pod(asking) == {"rdma/ib": 8}
    machine = node(allocatable={"rdma/ib": "8"})
    assert "Requested: 1, Available: 0" in str(refusal(pod("2", asks={"rdma/ib": 1}), machine, [asking]))


def test_a_machine_short_of_a_gpu_offers_and_hands_out_the_others(tmp_path: Path) -> None:
    machine_faults.write(tmp_path, [{"fault": "missing-gpu", "gpu": 3}, {"fault": "no-peermem"}])
    machine = Inventory(tmp_path).machine(machine_node(size="Standard_ND96isr_H100_v5", fabric="one"))
    assert machine is not None
    (offer,) = gpus(machine.hardware)
    assert offer.count == 7
    asking = pod(asks={"nvidia.com/gpu": 7})
    held = DeviceManager().allocate_pod(asking, machine.hardware, [offer])["main"]
    assert [gpu.index for gpu in held.gpus] == list(range(7)), "the driver numbers those that are there"
    effects = Effects()
    driver = frozenset({"nvidia", "nvidia_peermem"})
    effects.add("uid", InForce(node="node-0", effect="gpuDriver", modules=driver))
    assert "nvidia_peermem" not in effects.modules(machine)


def test_peermem_of_the_node_image_beside_azures_driver_is_a_stub_that_cannot_be_loaded(tmp_path: Path) -> None:
    """A container of the GPU Operator brings one that was built."""
    for driver, loaded in (("Install", False), ("None", True)):
        described = machine_node(size="Standard_ND96isr_H100_v5", fabric="one", gpuDriver=driver)
        machine = Inventory(tmp_path).machine(described)
        assert machine is not None
        effects = Effects()
        modules = frozenset({"nvidia", "nvidia_peermem"})
        effects.add("uid", InForce(node="node-0", effect="gpuDriver", modules=modules))
        assert ("nvidia_peermem" in effects.modules(machine)) == loaded


def test_pod_addresses_are_the_nodes_and_nobody_elses() -> None:
    machine = {"spec": {"podCIDR": "10.244.7.0/30"}}
    first = free_address(pod("0"), machine, [], "10.224.0.4")
    second = free_address(pod("0"), machine, [{"status": {"podIP": first}}], "10.224.0.4")
    assert {first, second} == {"10.244.7.1", "10.244.7.2"}
    assert free_address(pod("0", hostNetwork=True), machine, [], "10.224.0.4") == "10.224.0.4"
