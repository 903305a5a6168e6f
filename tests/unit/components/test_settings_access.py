"""Names that Azure takes, who reaches the API server, and who logs in."""

from typing import Any

import pulumi
import pytest

from tests.unit.components.stack_files import changed, cluster, loaded, mistakes

GROUP = "01234567-89ab-cdef-0123-456789abcdef"
IDENTITY = f"/subscriptions/{GROUP}/resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities/aks"


def wrong(**more: Any) -> dict[str, str]:
    return mistakes(changed(cluster=cluster(**more)))


@pytest.mark.parametrize(
    ("more", "key", "reason"),
    [
        ({"name": "-x"}, "name", "must be 1 to 63 letters"),
        ({"name": "x" * 64}, "name", "must be 1 to 63 letters"),
        ({"resourceGroup": "x."}, "resourceGroup", "not ending with ."),
        ({"resourceGroup": "a/b"}, "resourceGroup", "must be 1 to 90 letters"),
        ({"name": "one", "nodeResourceGroup": "One"}, "nodeResourceGroup", "must not be the cluster's own"),
        ({"nodeResourceGroup": "g" * 81}, "nodeResourceGroup", "must have 80 characters at most"),
        (
            {"name": "c" * 40, "resourceGroup": "g" * 40},
            "name",
            "99 characters of 80: choose a shorter name or resourceGroup, or give nodeResourceGroup",
        ),
        ({"nodeResourceGroup": "-nodes"}, "nodeResourceGroup", "must begin with a letter or digit"),
        ({"nodeResourceGroup": "größer"}, "nodeResourceGroup", "a label of the nodes"),
        ({"resourceGroup": "größer"}, "resourceGroup", "must have only letters a to z, or nodeResourceGroup"),
        ({"identityId": "aks"}, "identityId", "must be the resource ID of a user-assigned identity"),
    ],
)
def test_names_that_azure_would_refuse_are_refused(more: Any, key: str, reason: str) -> None:
    found = wrong(**more)
    assert list(found) == [f"cluster.{key}"]
    assert reason in found[f"cluster.{key}"]


def test_a_default_name_of_which_azure_makes_too_long_a_group_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "pretraining-at-large-in-texas")
    found = wrong()
    assert "pretraining-at-large-in-texas' if nothing else is given" in found["cluster.name"]
    assert "characters of 80: choose a shorter name" in found["cluster.name"]
    assert loaded(cluster=cluster(nodeResourceGroup="nodes"))


def test_long_names_are_fine_where_the_node_resource_group_is_given() -> None:
    assert loaded(cluster=cluster(name="c" * 40, resourceGroup="g" * 40, nodeResourceGroup="nodes"))


def test_an_existing_identity_is_taken() -> None:
    assert loaded(cluster=cluster(identityId=IDENTITY))


def test_a_private_api_server_has_no_authorized_ranges() -> None:
    found = wrong(apiServer={"private": True, "authorizedIpRanges": ["52.1.2.3/32"]})
    assert list(found) == ["cluster.apiServer.authorizedIpRanges"]
    assert "must be left out with private" in found["cluster.apiServer.authorizedIpRanges"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("10.0.0.0/8", "must be public addresses: a public API server never sees private ones"),
        ("192.168.1.1/32", "must be public addresses"),
        ("10.0.0.0/7", "holds 10.0.0.0/8, which is not public"),
        ("8.0.0.0/5", "holds 10.0.0.0/8"),
        ("192.0.0.0/8", "holds 192.168.0.0/16"),
        ("100.0.0.0/8", "holds 100.64.0.0/10"),
        ("52.1.2.3", "must be an IPv4 range"),
        ("2001:db8::/32", "must be an IPv4 range"),
        ("52.1.2.3/24", "must be written by its first address: 52.1.2.0/24"),
    ],
)
def test_an_authorized_range_is_of_public_addresses(given: str, reason: str) -> None:
    assert reason in wrong(apiServer={"authorizedIpRanges": [given]})["cluster.apiServer.authorizedIpRanges[0]"]


def test_public_ranges_and_the_clusters_own_address_are_taken() -> None:
    assert loaded(cluster=cluster(apiServer={"authorizedIpRanges": ["52.1.2.0/24", "0.0.0.0/32"]}))


def test_local_accounts_are_off_only_with_entra_id() -> None:
    found = wrong(access={"localAccounts": False})
    assert found == {
        "cluster.access.localAccounts": (
            "is False; must be true without entraId: no user could log in; set entraId: true"
        )
    }
    assert loaded(cluster=cluster(access={"entraId": True, "localAccounts": False, "adminGroupObjectIds": [GROUP]}))


@pytest.mark.parametrize("access", [{"adminGroupObjectIds": [GROUP]}, {"login": "spn"}])
def test_what_only_entra_id_reads_is_refused_without_it(access: Any) -> None:
    (key,) = access
    assert "says nothing without entraId" in wrong(access=access)[f"cluster.access.{key}"]


@pytest.mark.field_report("D6")
def test_a_login_that_asks_a_person_is_not_offered() -> None:
    found = wrong(access={"entraId": True, "login": "devicecode"})
    assert "must be 'azurecli', 'spn', 'msi' or 'workloadidentity'" in found["cluster.access.login"]


def test_a_group_is_given_by_its_object_id() -> None:
    found = wrong(access={"entraId": True, "adminGroupObjectIds": ["admins"]})
    assert "must be the object ID of a group" in found["cluster.access.adminGroupObjectIds[0]"]
