"""Pools made at the same time with Azure's conflicts, autoscaled pools, and pools that have to be replaced."""

from typing import Any

import pytest
import yaml

from rehearsal.azure.autoscaler import scale
from rehearsal.azure.subscription import DEFAULT_FILE
from tests.rehearsal.azure_components.conftest import StartStack

HB = {"size": "Standard_HB120rs_v3", "count": 2, "gpu_driver": "none"}
HX = {"size": "Standard_HX176rs", "count": 2, "gpu_driver": "none"}
WEB = {"vm_size": "Standard_D8s_v5", "count": 1}
POOL = {"type": "AgentPool"}


@pytest.mark.field_report("D3", "D4", "R16")
def test_conflicts_of_pools_made_side_by_side_are_waited_out_and_told(start: StartStack) -> None:
    """The provider is registered again once, before all InfiniBand pools; that a login may not stops none."""
    stack = start(
        [
            {"type": "Provider", "code": "AuthorizationFailed", "first": 1},
            {**POOL, "code": "OperationNotAllowed", "name": "hb", "operations": ["create"], "first": 2},
            {**POOL, "code": "EtagMismatch", "name": "hx", "operations": ["create"], "first": 1},
            {**POOL, "code": "OperationNotAllowed", "name": "web", "operations": ["delete"], "first": 1},
        ],
        features={"Microsoft.ContainerService/AKSInfinibandSupport": "Registered"},
    )
    up = stack.run("up", pools={"hb": HB, "hx": HX, "web": WEB}, feature=True)
    assert up.succeeded, up.errors
    assert set(stack.pools()) == {"hb", "hx", "web"}
    assert "hb: Azure refuses to create it now: Status=409" in up.said
    assert "retry 2 of at most 20" in up.said
    assert "EtagMismatch" in up.said
    assert up.said.count("could not be registered again: 403") == 1
    assert "is registered again, so that AKS knows its features" not in up.said, "once, not for each pool"

    again = stack.run("up", pools={"hb": HB, "hx": HX, "web": WEB}, feature=True)
    assert (again.succeeded, again.operations) == (True, {}), again.operations
    assert "registered again" not in again.said

    fewer = stack.run("up", pools={"hb": HB, "hx": HX}, feature=True)
    assert fewer.succeeded, fewer.errors
    assert "web: Azure refuses to delete it now" in fewer.said, "a pool that is no longer in the program"
    assert set(stack.pools()) == {"hb", "hx"}


@pytest.mark.field_report("D3", "A3c")
def test_a_creation_that_a_later_operation_cancels_is_explained_and_repaired_by_the_next_run(start: StartStack) -> None:
    stack = start(
        [{**POOL, "code": "Canceled", "name": "h*", "operations": ["create"], "first": 1, "sideBySide": True}]
    )
    failed = stack.run("up", pools={"hb": HB, "hx": HX})
    assert not failed.succeeded
    assert "canceled by a later operation" in failed.errors
    assert "the next run repairs it" in failed.errors
    assert "already existing" not in failed.said, "what was accepted is not created again"
    repaired = stack.run("up", pools={"hb": HB, "hx": HX})
    assert repaired.succeeded, repaired.errors
    assert {pool["provisioningState"] for pool in stack.pools().values()} == {"Succeeded"}


@pytest.mark.field_report("D3")
def test_a_change_that_a_later_operation_cancels_is_made_again(start: StartStack) -> None:
    stack = start(
        [{**POOL, "code": "Canceled", "name": "h*", "operations": ["update"], "first": 1, "sideBySide": True}]
    )
    assert stack.run("up", pools={"hb": HB, "hx": HX}).succeeded
    more = {"hb": {**HB, "count": 3}, "hx": {**HX, "count": 3}}
    changed = stack.run("up", pools=more)
    assert changed.succeeded, changed.errors
    assert "Azure refuses to update it now" in changed.said
    assert "canceled by a later operation" in changed.said
    assert {(pool["provisioningState"], pool["count"]) for pool in stack.pools().values()} == {("Succeeded", 3)}


@pytest.mark.field_report("A3", "A3b")
def test_what_no_retry_mends_is_explained_pool_by_pool_and_the_next_run_repairs_it_all(start: StartStack) -> None:
    """Capacity that is missing at once or after minutes, a machine that fails late, a login that expires meanwhile."""
    create = {**POOL, "operations": ["create"]}
    stack = start(
        [
            {**create, "code": "AllocationFailed", "name": "hb"},
            {**create, "code": "AllocationFailed", "name": "hx", "late": True},
            {**create, "code": "VMExtensionProvisioningError", "name": "web"},
            {**create, "code": "ExpiredAuthenticationToken", "name": "more"},
        ]
    )
    pools = {"hb": HB, "hx": HX, "web": WEB, "more": WEB}
    # Else the engine begins nothing more after the first refusal, and on a busy machine some pool comes after it.
    failed = stack.run("up", "--continue-on-error", pools=pools)
    assert not failed.succeeded
    assert "retry" not in failed.said
    for pool in pools:
        assert f"Azure did not create {pool}." in failed.errors
    for words in (
        *("lacks capacity for the size in this region", "pulumi up, once there is capacity"),
        *("exit status=50", "aka.ms/aks/outbound"),
        *("ExpiredAuthenticationToken", "next: az login"),
    ):
        assert words in failed.errors, words
    assert {name: pool["provisioningState"] for name, pool in stack.pools().items()} == dict.fromkeys(
        ("hb", "hx", "web"), "Failed"
    ), "nothing is left of what was refused"

    repaired = stack.run("up", pools=pools)
    assert repaired.succeeded, repaired.errors
    assert {pool["provisioningState"] for pool in stack.pools().values()} == {"Succeeded"}
    assert repaired.operations == {"more": ["create"], **{name: ["update"] for name in ("hb", "hx", "web")}}


@pytest.mark.field_report("D2b")
def test_the_autoscaler_and_the_program_do_not_fight_over_the_count(start: StartStack) -> None:
    stack = start()
    bounds = {"minCount": 1, "maxCount": 4}
    web = {**WEB, "autoscale": bounds}
    up = stack.run("up", pools={"web": web})
    assert up.succeeded, up.errors
    assert stack.pools()["web"]["count"] == 1
    assert stack.run("up", pools={"web": web}).operations == {}

    assert scale(stack.run_folder, "web", 3) == 3
    changed = stack.run("up", pools={"web": {**web, "labels": {"team": "ml"}}})
    assert changed.succeeded, changed.errors
    found = stack.pools()["web"]
    assert (found["count"], found["nodeLabels"]) == (3, {"team": "ml"})


@pytest.mark.field_report("D2", "A4b")
def test_what_azure_cannot_change_in_place_is_previewed_as_a_replacement_and_replaced(start: StartStack) -> None:
    stack = start()
    gpus = {"size": "Standard_ND96asr_v4", "count": 1, "gpu_driver": "operator"}
    assert stack.run("up", pools={"nda100": gpus}).succeeded
    assert stack.pools()["nda100"]["gpuProfile"] == {"driver": "None"}
    for change in ({"gpu_driver": "aks"}, {"os_disk_size_gb": 512}, {"os_sku": "Ubuntu2204"}, {"zones": ["1"]}):
        preview = stack.run("preview", pools={"nda100": {**gpus, **change}})
        assert preview.succeeded, preview.errors
        assert "replace" in preview.operations["nda100"], (change, preview.operations)
    changed = stack.run("up", pools={"nda100": {**gpus, "gpu_driver": "aks"}})
    assert changed.succeeded, changed.errors
    assert stack.pools()["nda100"]["gpuProfile"] == {"driver": "Install"}


@pytest.mark.field_report("R12")
def test_a_kubernetes_with_which_ubuntu_is_another_system_is_warned_of_at_preview(start: StartStack) -> None:
    stack, pools = start(), {"web": WEB, "older": {**WEB, "os_sku": "Ubuntu2204"}}
    up = stack.run("up", pools=pools, kubernetes="1.34", longTermSupport=True)
    assert up.succeeded, up.errors
    for command in ("preview", "up"):
        raised = stack.run(command, pools=pools, kubernetes="1.35", longTermSupport=True)
        assert raised.succeeded, raised.errors
        assert "web: with Kubernetes 1.35 the OS SKU Ubuntu is 24.04 with containerd 2" in raised.said
        assert "older: with Kubernetes" not in raised.said
        images = {name: pool["nodeImageVersion"].partition("gen2")[0] for name, pool in stack.pools().items()}
        newer = "AKSUbuntu-2404" if command == "up" else "AKSUbuntu-2204"
        assert images == {"web": newer, "older": "AKSUbuntu-2204"}


def test_pools_are_made_one_at_a_time_by_setting(start: StartStack) -> None:
    stack = start([{**POOL, "code": "OperationNotAllowed", "name": "*", "sideBySide": True, "first": 0}])
    up = stack.run("up", pools={"hb": HB, "hx": HX, "web": WEB}, serial=True)
    assert up.succeeded, up.errors
    assert "Azure refuses" not in up.said


@pytest.mark.field_report("D6", "D7")
def test_a_cluster_without_local_accounts_in_existing_subnets_is_reached_with_kubelogin_once_its_api_server_answers(
    start: StartStack,
) -> None:
    stack = start([{"type": "ManagedCluster", "code": "ApiServerUnreachable"}])
    subscription = yaml.safe_load(DEFAULT_FILE.read_text())
    settings: dict[str, Any] = {
        "access": {"entraId": True, "localAccounts": False},
        "network": {"nodeSubnetId": next(iter(subscription["existingSubnets"]))},
        "identityId": next(iter(subscription["existingIdentities"])),
        "namespace": True,
    }
    up = stack.run("up", pools={"web": WEB}, **settings)
    assert up.succeeded, up.errors
    assert up.done["mine"] == "create"
    assert "waiting for the API server 127.0.0.1:" in up.said
    scaled = stack.run("up", pools={"web": {**WEB, "count": 2}}, **settings)
    assert scaled.operations == {"web": ["update"]}, "nothing inside the cluster changes with a pool"
    assert stack.run("destroy", pools={}, **settings).succeeded


@pytest.mark.field_report("D6")
def test_without_kubelogin_nothing_is_made_and_a_preview_warns(start: StartStack) -> None:
    stack = start(kubelogin=False)
    access = {"entraId": True, "localAccounts": False}
    preview = stack.run("preview", pools={}, access=access)
    assert preview.succeeded, preview.errors
    assert "kubelogin is not on the PATH" in preview.said
    up = stack.run("up", pools={}, access=access)
    assert not up.succeeded
    assert "kubelogin is not on the PATH; install it" in up.errors
    assert not any("ResourceGroup" in name for name in up.changed), "nothing is made"


@pytest.mark.parametrize("command", ["preview", "up"])
def test_machines_that_must_not_have_the_feature_are_not_made_where_it_is_registered(
    start: StartStack, command: str
) -> None:
    stack = start(features={"Microsoft.ContainerService/AKSInfinibandSupport": "Registered"})
    size = "Standard_ND128isr_NDR_GB200_v6"
    grace = {"size": size, "count": 2, "gpu_driver": "none"}
    refused = stack.run(command, pools={"gb200": grace}, absent=True)
    assert not refused.succeeded
    assert "of subscription 11111111-2222-4333-8444-555555555555 is Registered; it must not be" in refused.errors
    assert "az feature unregister --subscription 11111111-2222-4333-8444-555555555555" in refused.errors
    assert "gb200" not in refused.done


def test_an_existing_identity_gets_its_role_in_our_network_and_a_cluster_becomes_private_by_replacement(
    start: StartStack,
) -> None:
    stack = start([{"type": "ManagedCluster", "code": "LinkedAuthorizationFailed", "operations": ["create"]}])
    identity = next(iter(yaml.safe_load(DEFAULT_FILE.read_text())["existingIdentities"]))
    up = stack.run("up", pools={}, identityId=identity)
    assert up.succeeded, up.errors
    assert "rdma: Azure refuses to create it now: Status=403" in up.said, "the role is not seen everywhere at once"
    assert "RoleAssignment rdma" in up.changed
    assert "UserAssignedIdentity rdma" not in up.changed
    preview = stack.run("preview", pools={}, identityId=identity, apiServer={"private": True})
    assert preview.succeeded, preview.errors
    assert "replace" in preview.changed["ManagedCluster rdma"]
