"""AKS's resource provider is registered again once a subscription, before any InfiniBand pool of it is made."""

import asyncio
import base64
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aks_infiniband
import pulumi
import pytest
from aks_infiniband import Autoscale
from aks_infiniband.azure import provider_registration as module
from aks_infiniband.azure.feature import FeatureAbsence, FeatureAbsenceArgs
from aks_infiniband.azure.provider_registration import resource_manager

from declared.pulumi_mocks import SUBSCRIPTION as ID
from declared.pulumi_mocks import Deploy, Deployment, Refusal
from rehearsal.azure.resource_manager import serve_resource_manager
from rehearsal.azure.subscription_faults import Fault
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure
from tests.unit.components.azure_programs import POOL, feature_registration, node_pool

STASH = "pulumi:index:Stash"
BY_HAND = f"az provider register --subscription {ID} --namespace Microsoft.ContainerService"
pytestmark = pytest.mark.field_report("R16")

TOLD = f"Microsoft.ContainerService of subscription {ID} is registered again, so that AKS knows its features"

Register = Callable[..., tuple[list[str], list[str]]]
"""Runs a program against a simulated Azure with faults; gives its logs and its warnings."""


@pytest.fixture
def register(
    deploy: Deploy, tmp_path: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Register:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.0, 0.0))
    told: dict[str, list[str]] = {"info": [], "warn": []}
    for level, lines in told.items():
        monkeypatch.setattr(pulumi.log, level, lambda text, *_, to=lines: to.append(text))

    def end(server: ThreadingHTTPServer) -> None:
        server.shutdown()
        server.server_close()

    def run(
        *faults: dict[str, Any],
        token: str | Refusal = "",
        program: Callable[[], Any] = lambda: feature_registration().registered,
        answers: Any = (),
    ) -> tuple[list[str], list[str]]:
        given = tuple(Fault.model_validate({"type": "Provider", **fault}) for fault in faults)
        changes = {"faults": given, "subscription_id": ID}
        cloud = Azure(tmp_path, SUBSCRIPTION.model_copy(update=changes)).cloud
        server = serve_resource_manager(cloud)
        request.addfinalizer(lambda: end(server))
        login = token if isinstance(token, Refusal) else {"token": token or cloud.token}
        deploy(program, answers={"getClientToken": login, **dict(answers)}, hooks=True)
        return [line for line in told["info"] if "registered again" in line], told["warn"]

    return run


def test_the_provider_is_registered_with_the_login_of_azure_native(register: Register) -> None:
    assert register() == ([TOLD], [])


def test_a_hundred_pools_at_once_wait_for_one_registration_whatever_the_engines_parallelism(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Autoscaled ones, which read their count from Azure as well, all at the same time."""
    made: list[Any] = []
    # azure-native gives every pool an alias for each version of Azure's API; the SDK takes most of the time for them.
    monkeypatch.setattr(pulumi.ResourceOptions, "aliases", property(lambda _: None, lambda *_: None), raising=False)

    def program() -> Any:
        # As `pulumi up --parallel 1`: Pulumi waits for the engine in four threads.
        asyncio.get_event_loop().set_default_executor(ThreadPoolExecutor(4))
        gate = pulumi.ResourceOptions(depends_on=[feature_registration().registered])
        bounds = Autoscale(min_count=1, max_count=8)
        pools = [node_pool(f"hb{n}", "Standard_HB176rs_v4", opts=gate, autoscale=bounds) for n in range(100)]
        return pulumi.Output.all(*(pool.ready for pool in pools)).apply(made.extend)

    told, warned = register(program=program, answers={"getAgentPool": {"count": 5}})
    assert (told, warned, len(made)) == ([TOLD], [], 100)


def test_the_library_asks_azure_native_only_in_forms_that_take_turns() -> None:
    """The synchronous form of a function runs the event loop inside itself, once for each call at a time."""
    generated = re.compile(r"\b[a-z]+\.(?:get|list)_(?!default\()[a-z_]+(?<!_output)\(")  # the exception is pydantic's
    modules = [path.read_text() for path in Path(aks_infiniband.__path__[0]).rglob("*.py")]
    asking = [text for text in modules if "pulumi_azure_native" in text]
    assert asking
    assert [found for text in asking for found in generated.findall(text)] == []
    assert not any("set_default_executor" in text for text in modules), "the SDK's threads are the SDK's"


def made_with_the_feature(deploy: Deploy, **more: Any) -> Deployment:
    def program() -> Any:
        feature = feature_registration()
        return node_pool(opts=pulumi.ResourceOptions(depends_on=[feature.registered])).ready

    return deploy(program, **more)


def test_pools_wait_for_the_registration_and_hold_nothing_of_it(deploy: Deploy) -> None:
    deployment = made_with_the_feature(deploy)
    pool, kept = deployment.one(POOL), deployment.one(STASH)
    assert kept.name in pool.dependencies
    assert "beforeCreate" not in pool.request["hooks"], "an engine that makes a pool asks this program for nothing"
    assert kept.request["hooks"]["beforeCreate"] == kept.request["hooks"]["beforeUpdate"]
    assert set(kept.request["hooks"]) == {"beforeCreate", "beforeUpdate"}


def test_it_happens_again_only_where_the_feature_is_registered_again(deploy: Deploy) -> None:
    """The engine runs the hook when the resource is made or changed."""
    (told,) = made_with_the_feature(deploy).one(STASH).inputs["input"].values()
    assert told.endswith("/rdma-infiniband-feature"), "the deployment's ID, another for another registration"


def test_the_absence_of_the_feature_is_told_to_aks_too(deploy: Deploy) -> None:
    deployment = deploy(
        lambda: FeatureAbsence("rdma", args=FeatureAbsenceArgs()).absent, feature_states=["Unregistered"]
    )
    assert deployment.one(STASH).inputs == {"input": {"told": f"/subscriptions/{ID}"}}


def test_a_preview_asks_for_no_login(deploy: Deploy) -> None:
    assert made_with_the_feature(deploy, preview=True).calls == []


def test_a_login_that_fails_is_warned_of_and_fails_no_pool(register: Register) -> None:
    told, (warned,) = register(token=Refusal("AADSTS700082: The refresh token has expired"))
    assert told == []
    assert "AADSTS700082: The refresh token has expired" in warned
    assert warned.endswith(BY_HAND)


def test_a_login_that_may_not_register_is_warned_with_the_command_for_somebody_who_may(register: Register) -> None:
    told, (warned,) = register({"code": "AuthorizationFailed", "first": 1})
    assert told == [], "a refusal is not tried again"
    assert warned.startswith(f"Microsoft.ContainerService of subscription {ID} could not be registered again: 403")
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
    assert len(warned.partition("403 ")[2].partition("\nIf this was")[0]) == 9
