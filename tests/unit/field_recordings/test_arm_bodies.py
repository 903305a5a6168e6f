"""Azure's recorded answers are read as preflight and teardown read them, and as Azure meant them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, Final

import pytest
from aks_infiniband_cli.azure.answers import Offer, Usage
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.left import Azure as After
from aks_infiniband_cli.azure.subscription import Azure
from aks_infiniband_cli.preflight import prices, retail_prices
from aks_infiniband_cli.preflight.checks import quota
from aks_infiniband_cli.preflight.needs import MachinesNeeded, Needs
from aks_infiniband_cli.teardown.left import groups_of

from tests.unit.command_line.logged_in import Credential
from tests.unit.command_line.loopback import Asked, certified, serving
from tests.unit.field_recordings.shapes import body

SUBSCRIPTION: Final = "00000000-0000-0000-0000-000000000000"
A100: Final = "Standard_ND96asr_v4"
TWO_MACHINES: Final = Needs(
    region="westus",
    group="rg",
    cluster="aks",
    machines=[MachinesNeeded(pool="nd", vm_size=A100, count=2, surge=0, zones=())],
    kubernetes_version="1.35",
    support_plan="KubernetesOfficial",
    feature=True,
    network=None,
    subnets=(),
    ranges=(),
    login=False,
    new_identity=False,
    validation_seconds=0,
)
Answering = Callable[[Mapping[str, Any]], str]
"""Serves bodies by the end of their path until the test ends, and gives the URL."""


@pytest.fixture
def answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answering]:
    certificate = certified(tmp_path)
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, str(certificate))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as servers:

        def serve(bodies: Mapping[str, Any]) -> str:
            def answer(path: str, _query: str, _asked: Asked) -> tuple[int, Any, Mapping[str, str]]:
                named = (found for end, found in bodies.items() if path.lower().endswith(end.lower()))
                return 200, next(named, {}), {}

            return servers.enter_context(serving(answer, certificate))

        yield serve


@pytest.fixture
def before(answering: Answering) -> Callable[[Mapping[str, Any]], Azure]:
    return lambda bodies: Azure(Clients(Credential(), answering(bodies), SUBSCRIPTION))


@pytest.fixture
def after(answering: Answering) -> Callable[[Mapping[str, Any]], After]:
    return lambda bodies: After(Clients(Credential(), answering(bodies), SUBSCRIPTION))


def test_a_size_with_rdma_is_told_from_what_is_refused_and_from_other_resources(
    before: Callable[[Mapping[str, Any]], Azure],
) -> None:
    offers = before({"/Microsoft.Compute/skus": body("arm-skus")}).offers("westus2")
    assert sorted(offers) == ["Standard_F2", "Standard_ND24rs", "Standard_NV4as_v4"]
    assert offers["Standard_ND24rs"] == Offer(
        family="standardNDSFamily",
        vcpus=24,
        zones=frozenset({"1", "2"}),
        refused=None,
        refused_zones=frozenset({"1", "2", "3"}),
    )
    assert offers["Standard_NV4as_v4"].refused == "NotAvailableForSubscription"


def test_a_familys_quota_is_found_though_it_is_spelled_otherwise_and_its_name_is_quoted_for_the_shell(
    before: Callable[[Mapping[str, Any]], Azure],
) -> None:
    usages = before({"/usages": body("arm-usages")}).usages("westus")
    assert usages["cores"] == Usage(current=9, limit=100)
    offer = Offer(
        family="standardNDASv4_A100Family", vcpus=96, zones=frozenset(), refused=None, refused_zones=frozenset()
    )
    lines = {line.check: line for line in quota(TWO_MACHINES.machines, "westus", {A100: offer}, usages, SUBSCRIPTION)}
    assert lines["quota cores"].found.startswith("192 vCPUs wanted, 9 of 100 in use")
    assert lines["quota standardNDASv4_A100Family"].state == "fail"
    assert "--resource-name 'Standard NDASv4_A100 Family' --scope" in str(
        lines["quota standardNDASv4_A100Family"].remedy
    )


def test_a_features_state_is_read(before: Callable[[Mapping[str, Any]], Azure]) -> None:
    azure = before({"/Microsoft.Network/features/AllowLBPreview": body("arm-feature")})
    assert azure.feature("Microsoft.Network", "AllowLBPreview") == "Unregistering"


def test_a_providers_state_is_read(before: Callable[[Mapping[str, Any]], Azure]) -> None:
    azure = before({"/providers": {"value": [body("arm-provider")]}})
    assert azure.providers() == {"Microsoft.Management": "Registered"}


def test_a_role_on_a_group_is_none_on_the_subscription_and_one_at_the_root_is(
    before: Callable[[Mapping[str, Any]], Azure],
) -> None:
    definitions, above = body("arm-role-definitions"), body("arm-role-assignments")["value"]
    reader = definitions["value"][0]["id"]
    assigned: list[Any] = [body("arm-role-assignment")]
    azure = before({"/roleDefinitions": definitions, "/roleAssignments": {"value": assigned}})
    assert azure.roles() == []
    [root] = above
    assigned.append({**root, "properties": {**root["properties"], "roleDefinitionId": reader}})
    assert [(role.name, role.permissions[0].actions) for role in azure.roles()] == [("Reader", ("*/read",))]


def test_a_networks_ranges_and_an_empty_subnet_are_read(before: Callable[[Mapping[str, Any]], Azure]) -> None:
    network = body("arm-network")
    [inside] = network["properties"]["subnets"]
    azure = before({"/virtualNetworks": {"value": [network]}, "/subnets/default": inside})
    assert [found.prefixes for found in azure.networks()] == [(IPv4Network("123.0.0.0/16"),)]
    subnet = azure.subnet(inside["id"])
    assert (subnet.prefix, subnet.used) == (IPv4Network("123.0.0.0/24"), 0)


def test_the_group_of_a_clusters_machines_is_found_by_its_owner_whatever_the_letters(
    after: Callable[[Mapping[str, Any]], After],
) -> None:
    groups = after({"/resourcegroups": body("arm-groups")}).groups()
    owner = "/subscriptions/1724ed8f-d6ne-4552-l73e-0567920518f3/resourceGroups/testrg/providers"
    cluster = f"{owner}/Microsoft.ContainerService/managedClusters/testname3"
    found = groups_of(groups, cluster_id=cluster, location="westeurope", node_group=None)
    assert [group.name for group in found] == ["testname3"]


def test_an_identitys_principal_and_a_scopes_assignments_are_read(after: Callable[[Mapping[str, Any]], After]) -> None:
    identity, assignment = body("arm-identity"), body("arm-role-assignment")
    listed = {"value": [assignment, *body("arm-role-assignments")["value"]]}
    azure = after(
        {"/resources": {"value": [identity]}, "/userAssignedIdentities/ide": identity, "/roleAssignments": listed}
    )
    assert azure.principals() == {"863d3529-b79d-423b-b5f0-57f7d20e1989"}
    [found] = azure.assignments(assignment["properties"]["scope"])
    assert (found.principal, found.name) == ("a0fd923f-205c-4f76-9ca4-ecb5430cb1c7", assignment["name"])


def test_the_price_is_that_of_a_machine_with_linux(answering: Answering, monkeypatch: pytest.MonkeyPatch) -> None:
    size, rows = "Standard_ND96isr_H100_v5", body("retail-prices-h100")["Items"]
    linux, windows, spot = rows
    low = {**windows, "meterName": f"{linux['meterName']} Low Priority", "retailPrice": 20.5}
    services = [
        {**linux, "productName": f"{linux['productName']} {name}", "retailPrice": 90.0}
        for name in ("CloudServices", "Cloud Services")
    ]
    monkeypatch.setattr(retail_prices, "URL", "")
    for order in (rows, [*services, {**linux, "retailPrice": 0.0}, low, spot, windows, linux]):
        url = answering({"/api/retail/prices": {**body("retail-prices-h100"), "Items": order}})
        monkeypatch.setattr(retail_prices, "URL", f"{url}/api/retail/prices")
        assert prices.prices([size], "eastus") == {size: 98.32}
