from pathlib import Path

import pytest
import yaml
from aks_infiniband.hosts.dranet import dranet_spec

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.pods.behaviours import (
    Behaviour,
    behaviour_of,
    behaviours,
    clashes,
)
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.run import latency
from tests.some_pools import pool as a_pool

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")


@pytest.mark.parametrize("behaviour", behaviours().values(), ids=behaviours())
def test_every_latency_of_the_table_is_known(behaviour: Behaviour) -> None:
    steps = [behaviour.latency, *(container.latency for container in behaviour.init_containers.values())]
    if behaviour.effect_latency:
        steps.append(behaviour.effect_latency)
    table = yaml.safe_load(Path(latency.__file__).with_name("latency.yaml").read_text())
    assert set(steps) <= table.keys()


def test_every_condition_is_provided_by_some_row() -> None:
    provided = {row.provides for row in behaviours().values()} | {"ofedForPeermem"}
    waited_for = {row.waits_for for row in behaviours().values()} - {None}
    waited_for |= {
        container.waits_for for row in behaviours().values() for container in row.init_containers.values()
    } - {None}
    assert waited_for <= provided


@pytest.mark.parametrize(("runtime", "crashes"), [("containerd://1.7.30-1", True), ("containerd://2.3.2-1", False)])
def test_dranet_ends_where_containerd_has_no_nri(runtime: str, crashes: bool) -> None:
    driver, node_info = dranet_spec([a_pool(mode="dra")])["template"], {"containerRuntimeVersion": runtime}
    row, machine = behaviour_of(driver), Machine(name="n", hardware=H100)
    assert row is not None
    met = [each.when for each in row.crashes if clashes(each.when, driver, machine, node_info)]
    assert met == ["noNri"] * crashes
    assert row.provides == "draDevices"


def test_a_machine_with_a_driver_of_its_own_has_driver_and_toolkit_from_the_start() -> None:
    effects, host = Effects(), Machine(name="n", hardware=H100, host_gpu_driver=True)
    assert effects.provided(host, "gpuDriver")
    assert effects.provided(host, "containerToolkit")
    assert not effects.provided(host, "gpuDevices")
    assert not effects.provided(Machine(name="n", hardware=H100), "gpuDriver")


def test_modules_are_loaded_for_as_long_as_the_pod_that_loads_them_is_ready() -> None:
    effects, machine = Effects(), Machine(name="n", hardware=H100)
    effects.add("uid", InForce(node="n", effect="ofed", modules=frozenset({"ib_umad"})))
    assert "ib_umad" in effects.modules(machine)
    assert "ib_umad" not in effects.modules(Machine(name="other", hardware=H100))
    effects.add("peermem", InForce(node="n", effect="peermem", modules=frozenset({"nvidia_peermem"})))
    assert "nvidia_peermem" not in effects.modules(machine), "there is no driver that it could be loaded beside"
    assert "nvidia_peermem" in effects.modules(Machine(name="n", hardware=H100, host_gpu_driver=True))
    effects.add("prepared", InForce(node="n", effect="nodePreparation", modules=frozenset({"rdma_ucm"}), stays=True))
    effects.discard("prepared")
    assert "rdma_ucm" in effects.modules(machine), "what was done to the host itself stays"
    effects.forget("n")
    assert "rdma_ucm" not in effects.modules(machine)
    effects.discard("uid")
    assert effects.modules(machine) >= {"mlx5_ib", "ib_uverbs"}
    assert "ib_umad" not in effects.modules(machine)
