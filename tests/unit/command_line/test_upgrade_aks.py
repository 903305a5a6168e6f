"""AKS gets one request: an operation that it carries out already is awaited, whichever command has started it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband_cli.azure.cluster import Aks, Operation

ASKS: dict[str, Callable[[Aks], Operation]] = {
    "control plane": lambda aks: aks.upgrade_control_plane("1.36"),
    "pool": lambda aks: aks.upgrade_pool("nd", "1.36"),
    "image": lambda aks: aks.upgrade_image("nd"),
}


class Service:
    """The cluster and its pool in Azure, in one state and with one requested version."""

    def __init__(self, state: str, version: str) -> None:
        self.provisioning_state, self.kubernetes_version, self.orchestrator_version = state, version, version
        self.current_kubernetes_version, self.location = "1.35.8", "southcentralus"
        self.agent_pool_profiles: list[Any] = []
        self.node_image_version = None
        self.asked = 0

    def get(self, *_: Any) -> Any:
        return self

    def begin(self, *_: Any) -> Any:
        self.asked += 1
        return SimpleNamespace(done=lambda: True, result=lambda: None)

    begin_create_or_update = begin_upgrade_node_image_version = begin


def aks_with(service: Service) -> Aks:
    aks = Aks.__new__(Aks)
    aks._client = SimpleNamespace(managed_clusters=service, agent_pools=service)  # type: ignore[assignment]
    aks._place = ("g", "c")
    return aks


@pytest.mark.parametrize("what", ASKS)
def test_what_azure_carries_out_already_is_waited_for_and_not_asked_for_again(what: str) -> None:
    service = Service("Upgrading", "1.36")
    operation = ASKS[what](aks_with(service))
    assert (service.asked, operation.done()) == (0, False)
    service.provisioning_state = "Succeeded"
    assert (operation.done(), operation.failure()) == (True, None)
    service.provisioning_state = "Failed"
    assert operation.failure() == "it is Failed, and the command that requested it is gone"


@pytest.mark.parametrize("what", ASKS)
@pytest.mark.parametrize("state", ["Succeeded", "Failed", "Canceled"])
def test_what_has_ended_is_asked_for(what: str, state: str) -> None:
    service = Service(state, "1.36")
    assert ASKS[what](aks_with(service)).done()
    assert service.asked == 1


@pytest.mark.parametrize("what", ["control plane", "pool"])
def test_an_upgrade_to_another_version_is_not_taken_for_this_one(what: str) -> None:
    service = Service("Upgrading", "1.35")
    ASKS[what](aks_with(service))
    assert service.asked == 1, "Azure says that another one is under way"
