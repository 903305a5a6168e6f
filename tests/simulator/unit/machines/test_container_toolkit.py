"""The settings of a machine's container toolkit."""

from aks_infiniband.hosts.toolkit_hardening import toolkit_hardening
from aks_infiniband.operators.gpu_operator import gpu_operator_values

from rehearsal.machines.hardware.container_toolkit import Toolkit, hardens
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.pods.effects import Effects, InForce
from tests.some_pools import pool

HARDWARE = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
AKSS = Toolkit(is_default=True, by_variable=True)
AKSS_HARDENED = Toolkit(is_default=True, by_variable=False)
OPERATORS_HARDENED = Toolkit(is_default=False, by_variable=False)


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
