"""The progress of a request to Azure: refused, passing, or unknown."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband_cli.azure import clients, machine
from aks_infiniband_cli.azure.machine import Machine
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError

GROUP = "/subscriptions/s/resourceGroups/mc"
MACHINE = f"{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/set/virtualMachines/3"
CLUSTER = "/subscriptions/s/resourcegroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
BUSY = "Operation is not allowed: Another agentpool operation (system - Creating) is in progress"
QUOTA = "Operation could not be completed as it results in exceeding approved standardHBv4Family Cores quota."


class Aks:
    """AKS, of which a pool has one machine. A request, and the operation that follows, may raise something."""

    def __init__(self, *, refuses: AzureError | None = None, ends: AzureError | None = None) -> None:
        self._refuses, self._ends = refuses, ends
        self.machines_there = [SimpleNamespace(name="n3", properties=SimpleNamespace(resource_id=MACHINE))]
        self.asked: list[Any] = []
        self.agent_pools = SimpleNamespace(get=self._get, begin_delete_machines=self._delete)
        self.machines = SimpleNamespace(list=lambda **_: self.machines_there)

    def _get(self, **_: Any) -> Any:
        return SimpleNamespace(count=16, enable_auto_scaling=False, provisioning_state="Succeeded")

    def _delete(self, *, machines: Any, **_: Any) -> Any:
        self.asked.append(machines.machine_names)
        if self._refuses:
            raise self._refuses
        return SimpleNamespace(done=lambda: True, result=self._result)

    def _result(self) -> None:
        if self._ends:
            raise self._ends


def answer(status: int, body: dict[str, Any]) -> HttpResponseError:
    given: Any = SimpleNamespace(reason="no", status_code=status, text=lambda: json.dumps(body))
    return HttpResponseError(response=given)


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> Callable[[Aks], Machine]:
    def begin(aks: Aks) -> Machine:
        groups = SimpleNamespace(get=lambda _: SimpleNamespace(managed_by=CLUSTER))
        monkeypatch.setattr(machine, "login", lambda: None)
        monkeypatch.setattr(clients, "ComputeManagementClient", lambda **_: None)
        monkeypatch.setattr(clients, "ResourceManagementClient", lambda **_: SimpleNamespace(resource_groups=groups))
        monkeypatch.setattr(clients, "ContainerServiceClient", lambda **_: aks)
        return Machine(MACHINE, "hbv4", "https://arm")

    return begin


@pytest.mark.parametrize(
    ("aks", "expected"),
    [
        (Aks(), ("ended", "")),
        (
            Aks(refuses=answer(409, {"code": "OperationNotAllowed", "message": BUSY, "subcode": ""})),
            ("none", f"OperationNotAllowed: {BUSY}"),
        ),
        (
            Aks(refuses=answer(409, {"code": "OperationNotAllowed", "message": QUOTA, "subcode": ""})),
            ("refused", f"OperationNotAllowed: {QUOTA}"),
        ),
        (Aks(refuses=answer(412, {"code": "PreconditionFailed", "message": "no"})), ("none", "PreconditionFailed: no")),
        (Aks(refuses=ServiceRequestError("no route to host")), ("none", "no route to host")),
        (
            Aks(ends=answer(200, {"status": "Failed", "error": {"code": "AllocationFailed", "message": "no room"}})),
            ("failed", "AllocationFailed: no room"),
        ),
        (Aks(ends=answer(503, {"error": {"code": "Busy", "message": "later"}})), ("unread", "Busy: later")),
        (Aks(ends=ServiceRequestError("no route to host")), ("unread", "no route to host")),
        (
            Aks(ends=answer(403, {"error": {"code": "AuthorizationFailed", "message": "x"}})),
            ("unread", "AuthorizationFailed: x"),
        ),
        (Aks(refuses=ServiceResponseError("connection reset")), ("unread", "connection reset")),
    ],
)
def test_only_what_azure_says_of_the_request_or_its_operation_is_a_failure(
    asking: Callable[[Aks], Machine], aks: Aks, expected: tuple[str, str]
) -> None:
    asked = asking(aks)
    asked.delete()
    assert asked.progress() == expected
    assert aks.asked == [["n3"]]


def test_a_machine_that_has_just_gone_is_not_deleted(asking: Callable[[Aks], Machine]) -> None:
    aks = Aks()
    asked = asking(aks)
    aks.machines_there = []
    asked.delete()
    assert (asked.progress(), aks.asked) == (("none", ""), [])
