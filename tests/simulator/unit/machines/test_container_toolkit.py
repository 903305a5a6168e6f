"""The GPUs of a machine that a container without privileges sees."""

from typing import Any

import pytest
from aks_infiniband.hosts.toolkit_hardening import toolkit_hardening
from aks_infiniband.operators.gpu_operator import gpu_operator_values

from rehearsal.machines.hardware.container_toolkit import Toolkit, hands_out_by_variable, hardens, visible_gpus
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.pods.effects import Effects, InForce
from tests.some_pools import pool

HARDWARE = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
GPUS = HARDWARE.gpus
AKSS = Toolkit(is_default=True, by_variable=True)
AKSS_HARDENED = Toolkit(is_default=True, by_variable=False)
OPERATORS = Toolkit(is_default=False, by_variable=True)
OPERATORS_HARDENED = Toolkit(is_default=False, by_variable=False)
CUDA, OTHER = "nvcr.io/nvidia/cuda:12.9.1-runtime-ubuntu24.04", "busybox"


def seen(toolkit: Toolkit | None, *, image: str = OTHER, named: str | None = None, **more: Any) -> list[int]:
    """Indexes of the GPUs that a container sees. more: held, runtime_class, and what its security context adds."""
    capabilities = {"capabilities": {"add": [more["adds"]]}} if "adds" in more else {}
    container = {"name": "main", "image": image, "securityContext": capabilities}
    pod = {"spec": {"containers": [container], "runtimeClassName": more.get("runtime_class")}}
    held = more.get("held", ())
    found = visible_gpus(pod, container, named=named, held=held, there=GPUS, toolkit=toolkit)
    return [gpu.index for gpu in found]


@pytest.mark.field_report("A11")
def test_with_akss_toolkit_as_it_comes_everybody_who_asks_by_the_variable_sees_every_gpu() -> None:
    everything = list(range(8))
    assert seen(AKSS, named="all") == everything
    assert seen(AKSS, named="0,3") == [0, 3]
    assert seen(AKSS, named=GPUS[2].uuid) == [2]
    assert seen(AKSS, image=CUDA) == everything, "NVIDIA's images set it"
    assert seen(AKSS, image=CUDA, named="void") == seen(AKSS) == seen(None, named="all") == []


@pytest.mark.field_report("A11")
@pytest.mark.parametrize("toolkit", [AKSS_HARDENED, OPERATORS_HARDENED])
def test_hardened_they_see_none_and_those_who_asked_kubernetes_see_what_they_were_given(toolkit: Toolkit) -> None:
    assert seen(toolkit, named="all", runtime_class="nvidia") == seen(toolkit, image=CUDA) == []
    assert seen(toolkit, named="all", held=GPUS[4:6]) == [4, 5]
    assert seen(toolkit, named="all", adds="SYS_ADMIN", runtime_class="nvidia") == list(range(8))


def test_the_operators_toolkit_serves_its_runtime_classes_alone() -> None:
    assert seen(OPERATORS, named="all") == []
    assert seen(OPERATORS, named="all", runtime_class="nvidia") == list(range(8))


def test_a_device_plugin_that_goes_by_the_variable_gives_nobody_a_gpu_where_it_is_passed_over() -> None:
    by_variable = {"is_default": True, "plugin_by_variable": True}
    assert seen(Toolkit(by_variable=True, **by_variable), held=GPUS[:2]) == [0, 1]
    assert seen(Toolkit(by_variable=False, **by_variable), held=GPUS[:2]) == []


@pytest.mark.parametrize(("strategy", "goes"), [("envvar", True), ("volume-mounts", True), ("envvar,cdi-cri", False)])
def test_a_device_plugins_strategy_is_read_from_its_pod(strategy: str, goes: bool) -> None:
    env = [{"name": "DEVICE_LIST_STRATEGY", "value": strategy}]
    assert hands_out_by_variable({"spec": {"containers": [{"name": "plugin", "env": env}]}}) is goes


def test_what_the_program_sends_hardens_both_toolkits() -> None:
    ours = toolkit_hardening([pool(gpu_driver="aks")]).spec()["template"]
    assert hardens(ours)
    for accepted in (False, True):
        env = gpu_operator_values([pool()], accept_visible_devices_envvar=accepted)["toolkit"]["env"]
        assert hardens({"spec": {"containers": [{"name": "toolkit", "env": env}]}}) is not accepted


def test_akss_file_stays_hardened_when_the_pod_is_gone_and_is_new_on_a_new_disk() -> None:
    effects, host = Effects(), Machine(name="n", hardware=HARDWARE, host_gpu_driver=True)
    assert effects.toolkit(host) == AKSS
    effects.add("ours", InForce(node="n", effect="toolkitHardening", hardens_toolkit=True, stays=True))
    effects.discard("ours")
    assert effects.toolkit(host) == AKSS_HARDENED
    effects.reimage("n")
    assert effects.toolkit(host) == AKSS


def test_a_machine_without_a_driver_has_the_operators_toolkit_while_its_pod_is_there() -> None:
    effects, machine = Effects(), Machine(name="n", hardware=HARDWARE)
    assert effects.toolkit(machine) is None
    effects.add("toolkit", InForce(node="n", effect="containerToolkit", hardens_toolkit=True))
    assert effects.toolkit(machine) == OPERATORS_HARDENED
