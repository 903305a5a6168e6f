"""Requests that Azure refuses, or accepts and does not carry out, although nothing is wrong with them."""

import base64
import socket
import threading
import time
from typing import Any, Final

import pytest
import yaml
from aks_infiniband.diagnosis.azure import pause_before_retry

from rehearsal.azure import access
from rehearsal.azure.doors import CLOSED, late_door
from rehearsal.azure.subscription_faults import Fault
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, MakeAzure, RefusedError, cluster_inputs, pool_inputs

POOL: Final = "containerservice:AgentPool"


def fault(**data: Any) -> Fault:
    return Fault.model_validate(data)


def cluster_on(azure: Azure) -> Properties:
    group = azure.create("resources:ResourceGroup", "rg")
    return azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))


@pytest.mark.field_report("R16")
def test_a_role_that_has_not_spread_is_refused_in_azures_words_and_waited_for_ten_minutes(
    make_azure: MakeAzure,
) -> None:
    azure = make_azure(faults=(fault(code="LinkedAuthorizationFailed", type="ManagedCluster"),))
    group = azure.create("resources:ResourceGroup", "rg")
    with pytest.raises(RefusedError, match=r"Status=403.*subnets/join/action") as refused:
        azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    pauses = [pause_before_retry([str(refused.value)] * tries, "create", share=1) for tries in range(1, 12)]
    assert 8 * 60 < sum(pause or 0 for pause in pauses) < 12 * 60
    assert pauses[-1] is None
    assert azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))["name"]


def test_the_door_to_an_api_server_that_is_late_closes_two_connections_and_carries_the_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as inside:
        door = late_door(inside.getsockname()[1])
        for _ in range(CLOSED):
            with socket.create_connection(("127.0.0.1", door), timeout=60) as refused:
                assert refused.recv(1) == b""
        with socket.create_connection(("127.0.0.1", door), timeout=60) as visitor:
            server, _ = inside.accept()
            with server:
                visitor.sendall(b"hello")
                assert server.recv(5) == b"hello"
                server.sendall(b"there")
                assert visitor.recv(5) == b"there"


def test_a_cluster_whose_api_server_is_late_hands_out_a_kubeconfig_that_leads_to_its_door(
    make_azure: MakeAzure, monkeypatch: pytest.MonkeyPatch
) -> None:
    azure = make_azure(faults=(fault(code="ApiServerUnreachable", type="ManagedCluster"),))
    record = azure.cloud.store.get(cluster_on(azure)["id"])
    assert record is not None
    assert record.outputs["provisioningState"] == "Succeeded"
    given = yaml.safe_dump({"clusters": [{"name": "aks", "cluster": {"server": "https://127.0.0.1:6443"}}]})
    monkeypatch.setattr(type(azure.machines), "kubeconfig", lambda _: given)
    first, again = (access.user_credentials(azure.cloud, record)["kubeconfigs"][0]["value"] for _ in range(2))
    assert first == again
    (cluster,) = yaml.safe_load(base64.b64decode(first))["clusters"]
    assert cluster["cluster"]["server"] == f"https://127.0.0.1:{azure.cloud.doors[record.id]}"


def in_thread(azure: Azure, name: str, cluster: Properties, ended: list[str]) -> threading.Thread:
    def make() -> None:
        try:
            azure.create(POOL, name, **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", count=1))
            ended.append(f"{name} made")
        except RefusedError as error:
            ended.append(f"{name} {error}")

    thread = threading.Thread(target=make)
    thread.start()
    limit = time.monotonic() + 60
    while not ended and azure.cloud.store.get(f"{cluster['id']}/agentPools/{name}") is None:
        assert time.monotonic() < limit
        time.sleep(0.01)
    return thread


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("EtagMismatch", ['two Status=409 Code="EtagMismatch"', "one made"]),
        ("Canceled", ['one Status=200 Code="Canceled" Message="The operation was overriden', "two made"]),
    ],
)
def test_pools_side_by_side_meet_a_conflict(make_azure: MakeAzure, code: str, outcome: list[str]) -> None:
    azure = make_azure(speed=100_000, faults=(fault(code=code, sideBySide=True),))
    cluster = cluster_on(azure)
    ended: list[str] = []
    first = in_thread(azure, "one", cluster, ended)
    first.join(timeout=0.5)  # it lasts until the second one comes
    second = in_thread(azure, "two", cluster, ended)
    for thread in (first, second):
        thread.join()
    assert [text[: len(start)] for text, start in zip(sorted(ended), sorted(outcome), strict=True)] == sorted(outcome)
    state = azure.read(POOL, "one", f"{cluster['id']}/agentPools/one")["provisioningState"]
    assert state == ("Canceled" if code == "Canceled" else "Succeeded")
