from typing import Any

import pytest

from rehearsal.machines.device_plugins import OfferedResource
from rehearsal.machines.devices import DeviceManager, refusal
from rehearsal.machines.hardware import hardware_of
from rehearsal.machines.nodes import label_patch, machine_hardware, mounted_file, resource_patch
from rehearsal.machines.pods import free_address, missing_config_maps
from rehearsal.machines.sysfs import MEMLOCK_BYTES, dev_files, effective_capabilities, proc_files, sys_files

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
IPC_LOCK = 1 << 14


def node(
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    allocatable: dict[str, str] | None = None,
) -> dict[str, Any]:
    metadata = {"name": "node-0", "labels": labels or {}, "annotations": annotations or {}}
    return {"metadata": metadata, "status": {"allocatable": allocatable or {}, "capacity": allocatable or {}}}


def pod(
    uid: str = "0" * 32, *, asks: dict[str, Any] | None = None, phase: str = "Running", **spec: Any
) -> dict[str, Any]:
    container = {"name": "main", "resources": {"limits": asks or {}}}
    return {
        "metadata": {"uid": uid, "namespace": "ns", "name": uid},
        "spec": {"nodeName": "node-0", "containers": [container]} | spec,
        "status": {"phase": phase},
    }


def test_labels_are_added_and_those_given_earlier_taken_back() -> None:
    annotations = {"nfd.node.kubernetes.io/feature-labels": "old,vendor.com/kept"}
    before = node(
        labels={"feature.node.kubernetes.io/old": "1", "vendor.com/kept": "1", "mine": "1"}, annotations=annotations
    )
    patch = label_patch(before, {"vendor.com/kept": "1", "feature.node.kubernetes.io/new": "1"})["metadata"]
    assert patch["labels"] == {"feature.node.kubernetes.io/new": "1", "feature.node.kubernetes.io/old": None}
    assert patch["annotations"] == {"nfd.node.kubernetes.io/feature-labels": "new,vendor.com/kept"}


def test_a_node_that_has_its_labels_is_not_written() -> None:
    annotations = {"nfd.node.kubernetes.io/feature-labels": "x"}
    assert (
        label_patch(
            node(labels={"feature.node.kubernetes.io/x": "1"}, annotations=annotations),
            {"feature.node.kubernetes.io/x": "1"},
        )
        == {}
    )


def test_a_resource_that_is_offered_no_longer_drops_to_none() -> None:
    annotations = {"rehearsal.aks-infiniband/device-plugin-resources": "rdma/ib"}
    patch = resource_patch(
        node(annotations=annotations, allocatable={"rdma/ib": "8", "cpu": "96"}), {"rdma/shared_ib": 63}
    )
    assert patch["allocatable"] == patch["capacity"] == {"rdma/ib": "0", "rdma/shared_ib": "63"}
    assert resource_patch(node(allocatable={"rdma/ib": "8"}), {"rdma/ib": 8}) == {}


def test_a_node_without_or_with_a_broken_annotation_is_no_machine(caplog: pytest.LogCaptureFixture) -> None:
    assert machine_hardware(node()) is None
    assert machine_hardware(node(annotations={"rehearsal.aks-infiniband/machine": "{}"})) is None
    assert "rehearsal.aks-infiniband/machine" in caplog.text


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
    gpus = OfferedResource(name="nvidia.com/gpu", count=8, gpus=True)

    def held(uid: str, **asks: int) -> tuple[set[str], set[int]]:
        asking = pod(uid, asks={name.replace("_", "/", 1): count for name, count in asks.items()})
        devices = manager.allocate(asking, asking["spec"]["containers"][0], H100, [shared, exclusive, gpus])
        return {one.name for one in devices.rdma_devices}, {one.index for one in devices.gpus}

    assert (
        held("1", **{"rdma_shared_ib": 1})
        == held("2", **{"rdma_shared_ib": 1})
        == ({one.name for one in H100.hcas}, set())
    )
    assert held("3", **{"rdma_ib": 2, "nvidia.com_gpu": 2}) == ({"mlx5_ib0", "mlx5_ib1"}, {0, 1})
    assert held("4", **{"rdma_ib": 1}) == ({"mlx5_ib2"}, set())
    manager.release(pod("3"))
    assert held("5", **{"rdma_ib": 1, "nvidia.com_gpu": 1}) == ({"mlx5_ib0"}, {0})


def test_pod_addresses_are_the_nodes_and_nobody_elses() -> None:
    machine = {"spec": {"podCIDR": "10.244.7.0/30"}}
    first = free_address(pod("0"), machine, [], "10.224.0.4")
    second = free_address(pod("0"), machine, [{"status": {"podIP": first}}], "10.224.0.4")
    assert {first, second} == {"10.244.7.1", "10.244.7.2"}
    assert free_address(pod("0", hostNetwork=True), machine, [], "10.224.0.4") == "10.224.0.4"


def test_links_read_as_the_kernel_prints_them() -> None:
    files = sys_files(H100)
    port = "class/infiniband/mlx5_ib0/ports/1"
    assert [files[f"{port}/{name}"] for name in ("state", "phys_state", "rate", "link_layer")] == [
        "4: ACTIVE",
        "5: LinkUp",
        "400 Gb/sec (4X NDR)",
        "InfiniBand",
    ]
    assert files[f"{port}/pkeys/0"] == f"0x{H100.hcas[0].pkeys[0]:04x}"
    assert files["class/infiniband/mlx5_an0/ports/1/link_layer"] == "Ethernet"


def test_a_container_sees_only_the_devices_that_it_holds() -> None:
    assert dev_files(rdma=[], gpus=[]) == ["null", "zero"]
    nodes = dev_files(rdma=H100.hcas[:1], gpus=[3])
    assert {"infiniband/uverbs0", "infiniband/rdma_cm", "nvidia3", "nvidiactl"} <= set(nodes)
    assert "infiniband/uverbs1" not in nodes


def test_ipc_lock_is_effective_for_root_alone() -> None:
    adds = {"capabilities": {"add": ["IPC_LOCK"]}}
    assert effective_capabilities({}, {}) & IPC_LOCK == 0
    assert effective_capabilities(adds, {}) & IPC_LOCK
    assert effective_capabilities(adds, {"runAsUser": 1000}) == 0
    assert effective_capabilities({"privileged": True}, {}) & IPC_LOCK
    assert effective_capabilities({"capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}}, {}) == IPC_LOCK


def test_limits_are_those_of_a_container_on_aks() -> None:
    files = proc_files(kernel="6.8.0-1031-azure", capabilities=0xA80425FB)
    locked = files["self/limits"].splitlines()[1].split()
    assert locked == ["Max", "locked", "memory", str(MEMLOCK_BYTES), str(MEMLOCK_BYTES), "bytes"]
    assert files["self/status"] == "CapEff:\t00000000a80425fb"
