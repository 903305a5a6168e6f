"""Pods on a machine with a fault, and the host engine of DCGM that can be called for a second opinion."""

from typing import Any, Final

from aks_infiniband.validation.machines import Machine
from aks_infiniband_cli.bad_machines.evidence.case import case_of
from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import HostEngine, engine_on
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket

from tests.cases import Case, patched
from tests.unit.command_line.cases.chosen import pod_of
from tests.unit.command_line.cases.ill_machines import MACHINE, TAKEN, sick
from tests.unit.command_line.validations import pod, validation

OPERATORS: Final = ("gpu-operator",)
ENGINE: Final = HostEngine(
    pod="gpu-operator/nvidia-dcgm-x", address="10.244.1.7", image="nvcr.io/nvidia/cloud-native/dcgm:4"
)


def host_engine() -> dict[str, Any]:
    """The pod of the host engine on node b."""
    found = pod("nvidia-dcgm-x", "b")
    owner = {"kind": "DaemonSet", "name": "nvidia-dcgm", "controller": True}
    found["metadata"] |= {"labels": {"app": "nvidia-dcgm"}, "namespace": "gpu-operator", "ownerReferences": [owner]}
    found["spec"]["containers"] = [{"name": "nvidia-dcgm-ctr", "image": ENGINE.image}]
    found["status"] |= {"podIP": ENGINE.address, "containerStatuses": [{"ready": True, "state": {"running": {}}}]}
    return found


def outcome_of_host_engine(case: Case) -> str:
    """The host engine that is called for node b, or why none is, as the evidence says it too. `pods` have the
    differences from usual ones by name; `engine` is the host engine's.
    """
    pods = [
        patched(host_engine(), change) if name == "engine" else pod_of(name, {"node": "b", **change})
        for name, change in case["pods"].items()
    ]
    found = engine_on("b", pods)
    if isinstance(found, HostEngine):
        return f"pod {found.pod} at {found.address}, {found.image}"
    evidence: Any = diagnosed(None, sick(), pods, validation(), OPERATORS)  # type: ignore[arg-type]
    assert evidence == {"not_asked": found}
    assert found in ticket(case_of(sick(), MACHINE, [], Machine(), TAKEN, dcgm=evidence))
    return found
