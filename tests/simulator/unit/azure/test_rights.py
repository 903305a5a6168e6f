"""The rights in the docs' tables are enough, and a right that is missing is named."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from aks_infiniband_cli.azure.cluster import Aks, Operation
from aks_infiniband_cli.azure.machine import Machine
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.preflight.rights import REPLACE, UPGRADE, Rights
from azure.core.exceptions import AzureError

from rehearsal.azure.permitted import operation_of
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, MakeAzure, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.people import clients, logged_in
from tests.simulator.unit.azure.pools import CLUSTER, IN_PLACE, POOL, machines

DOCS = Path(__file__).parents[4] / "docs"
POLLS = "Microsoft.Compute/locations/operations/read"
AKS_POLLS = "Microsoft.ContainerService/locations/operations/read"
Serve = Callable[[set[str]], tuple[Azure, Aks]]


@pytest.fixture
def serve(make_azure: MakeAzure, tmp_path: Path) -> Iterator[Serve]:
    """A simulated Azure with a pool of three machines, and a login to it that has given rights."""
    with ExitStack() as served:

        def begin(rights: set[str]) -> tuple[Azure, Aks]:
            client = SUBSCRIPTION.client.model_copy(update={"roles": (), "actions": tuple(sorted(rights))})
            azure = make_azure(client=client)
            group = azure.create("resources:ResourceGroup", "rg")
            cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group))
            azure.create(POOL, "nd", **pool_inputs(cluster, count=3, upgradeSettings=IN_PLACE))
            served.enter_context(logged_in(azure, tmp_path))
            return azure, Aks(clients(), group["name"], cluster["name"])

        yield begin


def machine(azure: Azure, number: int = 0) -> Machine:
    """The requests of `replace` for a machine."""
    resource = machines(azure, "nd")[number]["spec"]["providerID"].removeprefix("azure://")
    return Machine(resource, "nd", None)


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


def succeed(operation: Operation) -> None:
    while not operation.done():
        time.sleep(0.05)
    assert operation.failure() is None


def test_upgrade_does_all_that_it_does_with_the_rights_of_its_table(serve: Serve) -> None:
    _, aks = serve(named(UPGRADE))
    succeed(aks.upgrade_control_plane("1.36"))
    succeed(aks.upgrade_pool("nd", "1.36"))
    succeed(aks.upgrade_image("nd"))
    aks.abort("nd")
    assert aks.next_of("nd").before
    assert aks.after(aks.read().version, aks.read().location) is not None


def test_an_upgrade_whose_status_may_not_be_read_is_awaited_by_what_the_pool_shows(
    serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    _, aks = serve(named(UPGRADE) - {AKS_POLLS})
    succeed(aks.upgrade_control_plane("1.36"))
    assert aks.read().version.startswith("1.36")
    assert AKS_POLLS in capsys.readouterr().err


@pytest.mark.parametrize(
    ("request_", "action"),
    [
        ("GET ", "Microsoft.Resources/subscriptions/read"),
        ("GET /resourceGroups/rg", "Microsoft.Resources/subscriptions/resourceGroups/read"),
        ("GET /providers/Microsoft.Compute/skus", "Microsoft.Compute/skus/read"),
        ("GET /providers/Microsoft.Features/providers/M.X/features/F", "Microsoft.Features/providers/features/read"),
        (
            "POST /resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/s/virtualMachines/0/restart",
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action",
        ),
    ],
)
def test_a_request_is_called_as_azure_calls_it(request_: str, action: str) -> None:
    method, path = request_.split(" ")
    assert operation_of(method, f"/subscriptions/s{path}") == action
