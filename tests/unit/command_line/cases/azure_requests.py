"""The progress of a request to Azure: refused, passing, or unknown."""

import json
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from aks_infiniband_cli.azure import clients, machine
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError

from tests.cases import Case

_GROUP: Final = "/subscriptions/s/resourceGroups/mc"
_MACHINE: Final = f"{_GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/set/virtualMachines/3"
_CLUSTER: Final = "/subscriptions/s/resourcegroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"


class _Aks:
    """AKS, of which a pool has one machine. A request, and the operation that follows, may raise something."""

    def __init__(self, case: Case) -> None:
        self._refuses, self._ends = _error(case.get("refuses")), _error(case.get("ends"))
        there = [SimpleNamespace(name="n3", properties=SimpleNamespace(resource_id=_MACHINE))]
        self.requests: list[Any] = []
        self.agent_pools = SimpleNamespace(get=self._get, begin_delete_machines=self._delete)
        self.machines = SimpleNamespace(list=lambda **_: [] if case.get("gone") else there)

    def _get(self, **_: Any) -> Any:
        return SimpleNamespace(count=16, enable_auto_scaling=False, provisioning_state="Succeeded")

    def _delete(self, *, machines: Any, **_: Any) -> Any:
        self.requests.append(machines.machine_names)
        _raise(self._refuses)
        return SimpleNamespace(done=lambda: True, result=lambda: _raise(self._ends))


def _raise(error: AzureError | None) -> None:
    if error is not None:
        raise error


def _error(given: Any) -> AzureError | None:
    """The error of an answer with a status and a body, or of a request that was not sent, or not answered."""
    if given is None or "status" in given:
        answer: Any = given and SimpleNamespace(
            reason="no", status_code=given["status"], text=lambda: json.dumps(given["body"])
        )
        return given and HttpResponseError(response=answer)
    return ServiceRequestError(given["unsent"]) if "unsent" in given else ServiceResponseError(given["unanswered"])


def progress_of_request(case: Case) -> Any:
    """The progress of a request to delete a machine, and Azure's words. `refuses`: Azure's answer to it, `ends`: to the
    question after its status; `gone`: the machine has just gone.
    """
    aks = _Aks(case)
    groups = SimpleNamespace(get=lambda _: SimpleNamespace(managed_by=_CLUSTER))
    fakes: dict[str, Any] = {"ComputeManagementClient": None, "ContainerServiceClient": aks}
    fakes["ResourceManagementClient"] = SimpleNamespace(resource_groups=groups)
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(machine, "login"))
        for name, fake in fakes.items():
            patches.enter_context(mock.patch.object(clients, name, return_value=fake))
        sent = machine.Machine(_MACHINE, "hbv4", "https://arm")
        sent.delete()
        progress, words = sent.progress()
        return {"progress": progress, "words": words, "requests": aks.requests}
