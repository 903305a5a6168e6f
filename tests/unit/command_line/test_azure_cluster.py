"""A request to AKS whose progress Azure does not report."""

from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from aks_infiniband_cli.azure.cluster import Aks
from azure.core.exceptions import ServiceRequestError


def _unread() -> NoReturn:
    raise ServiceRequestError("no route to host")


def test_it_is_said_once_and_the_provisioning_state_shows_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    there = SimpleNamespace(provisioning_state="Upgrading", orchestrator_version="1.35.1")
    poller = SimpleNamespace(done=lambda: True, result=_unread)
    pools = SimpleNamespace(get=lambda *_: there, begin_create_or_update=lambda *_: poller)
    clients: Any = SimpleNamespace(aks=SimpleNamespace(agent_pools=pools))
    operation = Aks(clients, "rg", "aks").upgrade_pool("hbv4", "1.36.3")
    assert (operation.done(), operation.done()) == (False, False)
    there.provisioning_state = "Succeeded"
    assert operation.done()
    assert operation.failure() is None
    assert capsys.readouterr().err.count("no route to host") == 1
