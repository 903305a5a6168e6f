"""Before an InfiniBand pool is made AKS's resource provider is registered again, so that AKS knows its features."""

import asyncio
import base64
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import ThreadingHTTPServer
from threading import Event
from typing import Any

import pulumi
import pytest
from aks_infiniband.azure import provider_registration as module
from aks_infiniband.azure.provider_registration import provider_registration, resource_manager

from rehearsal.azure.resource_manager import serve_resource_manager
from rehearsal.azure.subscription import Fault
from tests.unit.azure.asking import SUBSCRIPTION, Azure
from tests.unit.components.azure_programs import POOL, node_pool
from tests.unit.pulumi_mocks import Deploy

ID = SUBSCRIPTION.subscription_id
BY_HAND = f"az provider register --subscription {ID} --namespace Microsoft.ContainerService"
pytestmark = pytest.mark.field_report("R16")

Register = Callable[..., tuple[list[str], list[str]]]
"""Runs the hook against a simulated Azure with faults; gives what is told and what is warned of."""


@pytest.fixture
def register(
    deploy: Deploy, tmp_path: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Register:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.0, 0.0))
    told: dict[str, list[str]] = {"info": [], "warn": []}
    for level, lines in told.items():
        monkeypatch.setattr(pulumi.log, level, lines.append)

    def end(server: ThreadingHTTPServer) -> None:
        server.shutdown()
        server.server_close()

    def run(*faults: dict[str, Any], token: str = "") -> tuple[list[str], list[str]]:
        given = tuple(Fault.model_validate({"type": "Provider", **fault}) for fault in faults)
        cloud = Azure(tmp_path, SUBSCRIPTION.model_copy(update={"faults": given})).cloud
        server = serve_resource_manager(cloud)
        request.addfinalizer(lambda: end(server))
        answers = {"getClientConfig": {"subscriptionId": ID}, "getClientToken": {"token": token or cloud.token}}

        async def before_create() -> None:
            hook = provider_registration("registration", pulumi.ComponentResource("t:t:T", "t"))
            done = hook(pulumi.ResourceHookArgs(urn="urn", id="", name="rdma-ndh100", type=POOL))
            assert done is not None
            await done

        deploy(lambda: pulumi.Output.from_input(before_create()), answers=answers)
        return told["info"], told["warn"]

    return run


def test_the_provider_is_registered_with_the_login_of_azure_native(register: Register) -> None:
    told, warned = register()
    assert told == [
        f"rdma-ndh100: Microsoft.ContainerService of subscription {ID} is registered again, so that AKS knows its "
        "features"
    ]
    assert warned == []


def test_pools_that_hold_every_thread_of_pulumi_do_not_keep_it_from_asking(deploy: Deploy) -> None:
    asked: list[bool] = []

    async def before_create() -> None:
        hook = provider_registration("registration", pulumi.ComponentResource("t:t:T", "t"))
        loop, made = asyncio.get_running_loop(), Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        pool = loop.run_in_executor(None, made.wait, 60)
        done = hook(pulumi.ResourceHookArgs(urn="urn", id="", name="rdma-ndh100", type=POOL))
        assert done is not None
        await done
        asked.append(not pool.done())
        made.set()
        await pool

    answers = {"getClientConfig": {"subscriptionId": ID}, "getClientToken": {"token": "opaque"}}
    deploy(lambda: pulumi.Output.from_input(before_create()), answers=answers)
    assert asked == [True], "it waited for the pool, which waits for it"


def test_a_login_that_may_not_register_is_warned_with_the_command_for_somebody_who_may(register: Register) -> None:
    told, (warned,) = register({"code": "AuthorizationFailed", "first": 1})
    assert told == [], "a refusal is not tried again"
    assert "rdma-ndh100: Microsoft.ContainerService" in warned
    assert "403" in warned
    assert "Microsoft.ContainerService/register/action" in warned, "Azure's own words"
    assert warned.endswith(BY_HAND)


@pytest.mark.parametrize(("throttled", "tells"), [(2, True), (3, False)])
def test_throttling_is_tried_again_twice(register: Register, throttled: int, tells: bool) -> None:
    told, warned = register({"code": "TooManyRequests", "first": throttled})
    assert (bool(told), [BY_HAND in line for line in warned]) == (tells, [] if tells else [True])


def token_for(audience: str) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"aud": audience}).encode()).decode().rstrip("=")
    return f"header.{claims}.signature"


@pytest.mark.parametrize(
    ("token", "words"),
    [
        (token_for("http://127.0.0.1:1/"), "ConnectError"),
        ("opaque", "IndexError"),
        ("header.W10.signature", "TypeError"),
        (token_for("00-11"), "is for 00-11, and goes to no address without https"),
        (token_for("http://management.azure.com"), "goes to no address without https"),
        (token_for("http://127.0.0.1:443@management.azure.com"), "goes to no address without https"),
    ],
)
def test_what_cannot_be_asked_is_warned_of_and_stops_nothing(register: Register, token: str, words: str) -> None:
    told, (warned,) = register(token=token)
    assert told == []
    assert words in warned
    assert BY_HAND in warned


@pytest.mark.parametrize(
    ("before", "host"),
    [
        ("core.windows.net", "azure.com"),
        ("core.usgovcloudapi.net", "usgovcloudapi.net"),
        ("core.chinacloudapi.cn", "chinacloudapi.cn"),
    ],
)
def test_the_address_is_that_of_the_cloud_that_azure_native_is_configured_for(before: str, host: str) -> None:
    for audience in (before, host):
        assert resource_manager(token_for(f"https://management.{audience}/")) == f"https://management.{host}"


def test_a_page_that_a_proxy_answers_is_not_shown_whole(register: Register, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SHOWN_CHARACTERS", 9)
    _, (warned,) = register({"code": "AuthorizationFailed", "first": 1})
    assert len(warned.partition("403 ")[2].partition("\nIf nobody")[0]) == 9


def test_the_hook_runs_before_an_infiniband_pool_is_made_and_at_no_other_time(deploy: Deploy) -> None:
    hooks = deploy(lambda: node_pool().ready).one(POOL).request["hooks"]
    assert len(hooks["beforeCreate"]) == 1
    assert not set(hooks["beforeCreate"]) & {name for when in hooks.keys() - {"beforeCreate"} for name in hooks[when]}
