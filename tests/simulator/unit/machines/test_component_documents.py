"""The components' documents, carried out by the stand-ins on simulated machines: what failed for users works."""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Network
from typing import Any, cast

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import Mode, NicDriver
from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_preparation import node_preparation, to_prepare
from aks_infiniband.hosts.peermem import peermem, peermem_pools
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.ipoib import ip_pool_spec, ipoib_network_spec, ipoib_networks
from aks_infiniband.operators.network_operator import PRESENT, node_feature_rule_spec
from aks_infiniband.operators.nic_policy import nic_policy_specs

from rehearsal.azure.machines import node
from rehearsal.machines.hardware.device_plugins import shared_rdma, sriov
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import lifts_memlock
from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.machines.network.address_pools import allocations, free_address_of
from rehearsal.machines.network.networks import parent_device
from rehearsal.machines.nodes.feature_discovery import built_in_labels, features_of
from rehearsal.machines.nodes.feature_rules import labels_of_rules
from rehearsal.machines.pods.behaviours import behaviour_of, behaviours, clashes
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.operators.gpu.operands import operands
from rehearsal.operators.gpu.parts import Context
from rehearsal.operators.network.ipoib import attachment
from tests.rehearsal.simulated_nodes import H100, pool_facts

NODE_INFO = {"containerRuntimeVersion": "containerd://2.1.4", "osImage": "Ubuntu 24.04.3 LTS"}
WITH_RAILS = [name for name, size in SIZES.items() if size.ipoib_devices]


def pool(
    size: str = "Standard_ND96isr_H100_v5",
    *,
    mode: Mode = "rdma-shared",
    nic_driver: NicDriver = "doca-ofed",
    gpu_driver: str = "operator",
    name: str = "nd",
) -> Pool:
    known = SIZES[size]
    served = known.accelerator is not None and known.accelerator.software == "gpu-operator"
    return Pool(
        name=name,
        size=known,
        node_count=2,
        node_selector={"agentpool": name},
        mode=mode,
        nic_driver=nic_driver,
        gpu_driver=cast("Any", gpu_driver if served else "none"),
        # The interfaces of some sizes are not known, and have to be given.
        ipoib_devices=known.ipoib_devices[:1] or ("ib0",) if mode == "ipoib" else (),
    )


def machine_of(a_pool: Pool, name: str = "node-0") -> Machine:
    hardware = hardware_of(size=a_pool.size.name, machine=name, fabric="one")
    return Machine(name=name, hardware=hardware, host_gpu_driver=a_pool.gpu_driver == "aks")


def started(machine: Machine, *pods: dict[str, Any]) -> Effects:
    """The effects of these pods, once they are ready on the machine."""
    effects = Effects()
    for index, pod in enumerate(pods):
        row = behaviour_of(pod)
        assert row is not None, pod["metadata"]["labels"]
        assert row.provides is not None
        effects.add(str(index), InForce(node=machine.name, effect=row.provides, modules=row.modules(pod)))
    return effects


def modules_of(a_pool: Pool) -> frozenset[str]:
    """The modules of a machine of the pool when everything that the components put on it runs."""
    machine, pods = machine_of(a_pool), []
    if a_pool.nic_driver == "doca-ofed":
        pods.append({"metadata": {"labels": {"nvidia.com/ofed-driver": ""}}, "spec": {"containers": []}})
    if to_prepare([a_pool], asked_for=False):
        pods.append(node_preparation([a_pool], memlock=True).spec()["template"])
    if peermem_pools([a_pool]):
        pods.append(peermem([a_pool]).spec()["template"])
    return started(machine, *pods).modules(machine)


@pytest.mark.field_report("R4")
@pytest.mark.parametrize("size", list(SIZES))
def test_only_machines_with_infiniband_get_the_label_by_which_the_operator_knows_them(size: str) -> None:
    rule = {"metadata": {"name": "nics"}, "spec": node_feature_rule_spec([pool(size)])}

    def given(hardware: Hardware) -> dict[str, str]:
        return labels_of_rules([rule], features_of(hardware, {}, "node-0"))

    assert given(machine_of(pool(size)).hardware) == PRESENT
    ordinary = hardware_of(size="Standard_D8s_v5", machine="node-1", fabric="one")
    (ethernet,) = ordinary.rdma_devices
    same_id = replace(ethernet.pci, device=SIZES[size].infiniband.vf_device_id)
    accelerated = replace(ordinary, rdma_devices=(replace(ethernet, pci=same_id),))
    assert given(accelerated) == {}, "accelerated networking has the device ID of an HCA, and is Ethernet"


@pytest.mark.field_report("B13", "B14", "A2b", "C9")
@pytest.mark.parametrize("size", list(SIZES))
@pytest.mark.parametrize("nic_driver", ["doca-ofed", "inbox"])
@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "ipoib"])
def test_device_plugins_offer_every_hca_and_only_those(size: str, nic_driver: NicDriver, mode: Mode) -> None:
    a_pool = pool(size, mode=mode, nic_driver=nic_driver)
    hardware, modules = machine_of(a_pool).hardware, modules_of(a_pool)
    policy = nic_policy_specs([a_pool]).cluster
    if mode == "sriov":
        (offer,) = sriov(policy["sriovDevicePlugin"]["config"], hardware, modules)
        assert offer.count == a_pool.rdma_quantity == a_pool.size.infiniband.hca_count
    else:
        (offer,) = shared_rdma(policy["rdmaSharedDevicePlugin"]["config"], hardware, modules)
        assert offer.count == 63
    assert offer.name == a_pool.rdma_resource
    assert offer.rdma_devices == hardware.hcas


@pytest.mark.field_report("C2")
def test_prepared_nodes_let_pods_lock_all_the_memory_they_like() -> None:
    assert lifts_memlock(node_preparation([pool()], memlock=True).spec()["template"])
    assert not lifts_memlock(node_preparation([pool()], memlock=False).spec()["template"])


@pytest.mark.field_report("B3")
def test_peermem_is_loaded_beside_azures_driver() -> None:
    a_pool = pool(gpu_driver="aks")
    machine = machine_of(a_pool)
    assert "nvidia_peermem" in modules_of(a_pool)
    assert "nvidia_peermem" not in Effects().modules(machine), "Azure's driver alone does not bring it"


def gpu_daemon_sets(a_pool: Pool, nodes: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    values = gpu_operator_values([a_pool])
    spec = {key: section for key, section in values.items() if isinstance(section, dict)}
    made = operands(Context(spec=spec, nodes=nodes, version="v1"))
    return {document["metadata"]["name"]: document for document in made if document["kind"] == "DaemonSet"}


@pytest.mark.field_report("A4", "B4")
@pytest.mark.parametrize("owner", ["operator", "aks"])
def test_no_operand_of_the_gpu_operator_breaks_a_node_whoever_owns_the_driver(owner: str) -> None:
    a_pool = pool(gpu_driver=owner)
    machine = machine_of(a_pool)
    made = gpu_daemon_sets(a_pool)
    assert ("nvidia-driver-daemonset" in made) == (owner == "operator")
    checked = []
    for name, document in made.items():
        row = behaviour_of(document["spec"]["template"])
        for crash in row.crashes if row is not None else ():
            checked.append(name)
            assert not clashes(crash.when, document["spec"]["template"], machine, NODE_INFO), name
    assert len(set(checked)) == (2 if owner == "operator" else 0), "driver and toolkit are what can break a node"


@pytest.mark.field_report("R7")
@pytest.mark.parametrize(("other", "crash"), [("Ubuntu", False), ("Ubuntu2204", True)])
def test_gpu_nodes_of_another_ubuntu_get_the_driver_of_the_first_which_they_cannot_load(
    other: str, crash: bool
) -> None:
    """The fate of pools that the settings refuse (stack/settings/consistency/machines.py, _one_system)."""
    a_pool = pool()
    nodes = [node(pool_facts(name, H100, os_sku=sku), 0, 0) for name, sku in (("nd", "Ubuntu"), ("other", other))]
    for document in nodes:
        features = features_of(machine_of(a_pool).hardware, document["status"]["nodeInfo"], "node-0")
        document["metadata"]["labels"] |= built_in_labels(features, "")
    driver = gpu_daemon_sets(a_pool, nodes)["nvidia-driver-daemonset"]["spec"]["template"]
    (row,) = [crash for crash in behaviours()["gpuDriver"].crashes if crash.when == "imageOfAnotherSystem"]
    crashed = [clashes(row.when, driver, machine_of(a_pool), document["status"]["nodeInfo"]) for document in nodes]
    assert crashed == [False, crash]


@pytest.mark.field_report("B17")
@pytest.mark.parametrize("size", WITH_RAILS)
@pytest.mark.parametrize("nic_driver", ["doca-ofed", "inbox"])
def test_every_node_of_an_ipoib_pool_has_a_parent_device_and_a_block_of_addresses(
    size: str, nic_driver: NicDriver
) -> None:
    a_pool = pool(size, mode="ipoib", nic_driver=nic_driver)
    (network,) = ipoib_networks([a_pool], IPv4Network("192.168.0.0/24"), per_node=8)
    spec = ipoib_network_spec(network, namespace="aks-infiniband")
    metadata = {"name": network.name, "uid": "u"}
    made = attachment({"apiVersion": "v1", "kind": "IPoIBNetwork", "metadata": metadata, "spec": spec})
    assert made["metadata"]["namespace"] == "aks-infiniband"
    assert parent_device({"master": spec["master"]}, machine_of(a_pool).hardware, modules_of(a_pool)).name == "mlx5_0"
    nodes = [
        {"metadata": {"name": f"{name}-{n}", "labels": {"agentpool": name}}} for name in ("nd", "other") for n in (0, 1)
    ]
    address_pool = {"metadata": {"name": network.name}, "spec": ip_pool_spec(network)}
    blocks = allocations(address_pool, nodes)
    assert [block["nodeName"] for block in blocks] == ["nd-0", "nd-1"]
    assert free_address_of(address_pool | {"status": {"allocations": blocks}}, "nd-1", set()) is not None
