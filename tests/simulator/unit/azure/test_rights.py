"""The rights in the docs' tables are enough, and a right that is missing is named."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.cluster import Aks, Operation
from aks_infiniband_cli.azure.login import login
from aks_infiniband_cli.azure.machine import Machine
from aks_infiniband_cli.azure.rehearsed import VARIABLE, rehearsed
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.preflight.rights import REPLACE, UPGRADE, Rights
from azure.core.exceptions import AzureError

from rehearsal.azure.permitted import operation_of
from rehearsal.azure.resource_manager import serve_people, serve_resource_manager
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.run.folder import RunFolder
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, MakeAzure, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.pools import IN_PLACE, POOL, machines

DOCS = Path(__file__).parents[4] / "docs"
POLLS = "Microsoft.Compute/locations/operations/read"
AKS_POLLS = "Microsoft.ContainerService/locations/operations/read"
Serve = Callable[..., tuple[Azure, dict[str, Any]]]


@pytest.fixture
def serve(make_azure: MakeAzure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """A simulated Azure with a pool of three machines, and a login to it that has given rights."""
    servers = []

    def begin(rights: set[str]) -> tuple[Azure, dict[str, Any]]:
        client = SUBSCRIPTION.client.model_copy(update={"roles": (), "actions": tuple(sorted(rights))})
        azure = make_azure(client=client)
        group = azure.create("resources:ResourceGroup", "rg")
        cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
        azure.create(POOL, "nd", **pool_inputs(cluster, count=3, upgradeSettings=IN_PLACE))
        run = RunFolder.at(tmp_path / "run")
        run.prepare()
        write_credentials(run, api_server_port=1)
        servers.extend([serve_resource_manager(azure.cloud), serve_people(azure.cloud, run)])
        monkeypatch.setenv(VARIABLE, str(run.azure_login))
        return azure, {"group": group["name"], "name": cluster["name"]}

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def machine(azure: Azure, number: int = 0) -> Machine:
    """The requests of `replace` for a machine."""
    resource = machines(azure, "nd")[number]["spec"]["providerID"].removeprefix("azure://")
    return Machine(resource, "nd", None)


def cluster(place: dict[str, Any]) -> Aks:
    """The requests of `upgrade` for the cluster."""
    found = rehearsed()
    assert found
    return Aks(Clients(login(), found.endpoint, found.subscription), place["group"], place["name"])


def ended(asked: Machine) -> tuple[str, str]:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        state, words = asked.progress()
        if state != "running":
            return state, words
        time.sleep(0.05)
    raise AssertionError("Azure is not done")


def named(rights: Rights) -> set[str]:
    return {action for actions in rights.values() for action in actions}


@pytest.mark.parametrize(("page", "rights"), [("replace", REPLACE), ("upgrade", UPGRADE)])
def test_the_table_in_the_docs_names_the_rights_that_preflight_asks_for(page: str, rights: Rights) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(Microsoft\.[A-Za-z]+/[\w/]+/(?:read|write|action))`", text)) == named(rights)


def test_replace_does_all_that_it_does_with_the_rights_of_its_table(serve: Serve) -> None:
    azure, _ = serve(named(REPLACE))
    asked = machine(azure)
    for ask in (asked.restart, asked.redeploy, asked.delete, lambda: asked.refill(3)):
        ask()
        assert ended(asked) == ("ended", "")
    assert asked.agent_pool().count == 3


@pytest.mark.parametrize("right", sorted({*named(REPLACE)} - {POLLS, AKS_POLLS}))
def test_every_right_of_the_table_of_replace_is_needed(serve: Serve, right: str) -> None:
    azure, _ = serve(named(REPLACE) - {right})
    assert right.lower() in "; ".join(refusals(azure)).lower()


def refusals(azure: Azure) -> Iterator[str]:
    """Azure's words, if it refuses one of the actions of `replace`."""
    try:
        asked = machine(azure)
        asked.agent_pool()
    except (CommandError, AzureError) as error:
        yield str(error)
        return
    for ask in (asked.restart, asked.redeploy, asked.delete, lambda: asked.refill(3)):
        ask()
        yield ended(asked)[1]


@pytest.mark.parametrize(("action", "right"), [("restart", POLLS), ("redeploy", POLLS), ("delete", AKS_POLLS)])
def test_a_request_whose_status_may_not_be_read_stays_accepted_and_the_missing_right_is_named(
    serve: Serve, action: str, right: str
) -> None:
    azure, _ = serve(named(REPLACE) - {right})
    asked = machine(azure)
    getattr(asked, action)()
    state, words = ended(asked)
    assert (state, asked.accepted) == ("unread", True)
    assert right in words


def test_upgrade_does_all_that_it_does_with_the_rights_of_its_table(serve: Serve) -> None:
    _, place = serve(named(UPGRADE))
    aks = cluster(place)
    begins: list[Callable[[], Operation]] = [
        lambda: aks.upgrade_control_plane("1.36"),
        lambda: aks.upgrade_pool("nd", "1.36"),
        lambda: aks.upgrade_image("nd"),
    ]
    for begin in begins:
        operation = begin()
        while not operation.done():
            time.sleep(0.05)
        assert operation.failure() is None
    aks.abort("nd")
    assert aks.next_of("nd").before
    assert aks.after(aks.read().version, aks.read().location) is not None


def test_an_upgrade_whose_status_may_not_be_read_is_awaited_by_what_the_pool_shows(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    _, place = serve(named(UPGRADE) - {AKS_POLLS})
    aks = cluster(place)
    operation = aks.upgrade_control_plane("1.36")
    while not operation.done():
        time.sleep(0.05)
    assert operation.failure() is None
    assert aks.read().version.startswith("1.36")
    assert AKS_POLLS in capsys.readouterr().err


@pytest.mark.parametrize(
    ("method", "path", "action"),
    [
        ("GET", "", "Microsoft.Resources/subscriptions/read"),
        ("GET", "/resourceGroups/rg", "Microsoft.Resources/subscriptions/resourceGroups/read"),
        ("GET", "/providers/Microsoft.Compute/skus", "Microsoft.Compute/skus/read"),
        (
            "GET",
            "/providers/Microsoft.Features/providers/M.X/features/F",
            "Microsoft.Features/providers/features/read",
        ),
        (
            "POST",
            "/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/s/virtualMachines/0/restart",
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action",
        ),
    ],
)
def test_a_request_is_called_as_azure_calls_it(method: str, path: str, action: str) -> None:
    assert operation_of(method, f"/subscriptions/s{path}") == action
