"""The provider's answers to an engine: unknown requests, an engine that leaves, a simulator that was killed."""

import contextlib
import threading
import time
from pathlib import Path

import pytest

from rehearsal.azure.plugin import make_plugin_folder
from rehearsal.azure.store import Record
from rehearsal.azure.wire import UNKNOWN, Properties, from_struct, to_struct
from tests.simulator.unit.azure.asking import (
    FAST,
    SUBSCRIPTION,
    Azure,
    MakeAzure,
    RefusedError,
    cluster_inputs,
    pool_inputs,
)

CLUSTER = "containerservice:ManagedCluster"
POOL = "containerservice:AgentPool"
GROUP = "resources:ResourceGroup"


def test_what_is_not_simulated_is_named_with_what_is(azure: Azure) -> None:
    with pytest.raises(
        RefusedError, match=r"simulate the resource type azure-native:storage:StorageAccount.*AgentPool"
    ):
        azure.check("storage:StorageAccount", "s", {})
    with pytest.raises(RefusedError, match=r"simulate the function azure-native:storage:listKeys.*getClientConfig"):
        azure.invoke("storage:listKeys")


def test_the_client_is_the_subscriptions(azure: Azure) -> None:
    assert azure.invoke("authorization:getClientConfig")["subscriptionId"] == azure.cloud.subscription.subscription_id


def test_unknown_secret_and_null_values_survive_the_wire() -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s"}
    struct = to_struct({"a": UNKNOWN, "b": [1, 2.5, True], "c": None, "d": {"e": secret}})
    assert from_struct(struct) == {"a": UNKNOWN, "b": [1, 2.5, True], "d": {"e": "s"}}


def test_an_unknown_input_is_not_judged(azure: Azure) -> None:
    _, failures = azure.check(POOL, "ndh100", {"resourceGroupName": UNKNOWN, "resourceName": UNKNOWN, "count": UNKNOWN})
    assert failures == []


def test_what_exists_is_not_created_again(azure: Azure) -> None:
    azure.create(GROUP, "rg", resourceGroupName="mine")
    with pytest.raises(RefusedError, match=r"cannot create already existing resource '/subscriptions/.*/MINE'"):
        azure.create(GROUP, "rg", resourceGroupName="MINE")


def test_a_read_of_what_is_gone_finds_nothing(azure: Azure) -> None:
    assert azure.read(GROUP, "rg", "/subscriptions/x/resourceGroups/none") == {}


def test_a_cancelled_wait_leaves_a_resource_and_azure_carries_on(make_azure: MakeAzure) -> None:
    azure = make_azure(speed=FAST)
    wanted = cluster_inputs(azure.create(GROUP, "rg"), resourceName="aks")
    azure.cloud.clock.latencies = type(azure.cloud.clock.latencies)(speed=1)  # a cluster in minutes
    refusals: list[str] = []

    def make() -> None:
        try:
            azure.create(CLUSTER, "aks", **wanted)
        except RefusedError as error:
            refusals.append(str(error))

    making = threading.Thread(target=make)
    making.start()
    while not list(azure.cloud.store.all(f"azure-native:{CLUSTER}")):
        time.sleep(0.01)
    deadline = time.monotonic() + 60
    while making.is_alive() and time.monotonic() < deadline:
        azure.provider.Cancel(None, azure.call())  # ends the waits that have begun, which this one may not have
        making.join(timeout=0.05)
    assert not making.is_alive()
    assert "Azure has accepted the request and carries on" in refusals[0]
    [metadata] = azure.context.details
    assert (metadata[0][0], b"ErrorResourceInitFailed" in metadata[0][1]) == ("grpc-status-details-bin", True)
    [record] = azure.cloud.store.all(f"azure-native:{CLUSTER}")
    assert record.operation is not None
    _kill(azure)
    again = make_azure(speed=FAST)
    again.operations.resume()
    ended = again.cloud.store.get(record.id)
    assert isinstance(ended, Record)
    again.cloud.clock.wait_for(lambda: ended.operation is None)
    assert again.read(CLUSTER, "aks", record.id)["provisioningState"] == "Succeeded"


def test_another_engines_cancel_disturbs_nobody(make_azure: MakeAzure) -> None:
    azure = make_azure(speed=1000)
    wanted = cluster_inputs(azure.create(GROUP, "rg"))
    threading.Timer(0.1, lambda: azure.cloud.clock.cancel("another engine")).start()
    assert azure.create(CLUSTER, "aks", **wanted)["provisioningState"] == "Succeeded"


def test_a_killed_simulator_carries_on_where_it_was(make_azure: MakeAzure) -> None:
    azure = make_azure(speed=FAST)
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(azure.create(GROUP, "rg")))
    azure.cloud.clock.latencies = type(azure.cloud.clock.latencies)(speed=1)
    making = threading.Thread(target=_ignoring_refusals, args=(azure, cluster))
    making.start()
    while azure.cloud.store.get(f"{cluster['id']}/agentPools/ndh100") is None:
        time.sleep(0.01)
    _kill(azure)
    making.join()
    again = make_azure(speed=FAST)
    again.operations.resume()
    record = again.cloud.store.get(f"{cluster['id']}/agentPools/ndh100")
    assert isinstance(record, Record)
    again.cloud.clock.wait_for(lambda: record.operation is None)
    assert record.outputs["provisioningState"] == "Succeeded"
    assert len([name for name in again.machines.nodes if "ndh100" in name]) == 2


def _kill(azure: Azure) -> None:
    """Stop the clock, and wait for the operations' threads: until they end they write to the file that is read next."""
    azure.cloud.clock.stop()
    operations = {record.id for record in azure.cloud.store.all()}
    for thread in threading.enumerate():
        if thread.name in operations:
            thread.join()


def _ignoring_refusals(azure: Azure, cluster: Properties) -> None:
    with contextlib.suppress(RefusedError):
        azure.create(POOL, "ndh100", **pool_inputs(cluster))


def test_names_are_made_as_azure_native_makes_them_and_kept(azure: Azure, group: Properties) -> None:
    in_group = {"resourceGroupName": group["name"]}
    network = azure.create(
        "network:VirtualNetwork", "net", addressSpace={"addressPrefixes": ["10.1.0.0/16"]}, **in_group
    )
    wanted = {"virtualNetworkName": network["name"], "addressPrefix": "10.1.0.0/24", **in_group}
    subnet = azure.create("network:Subnet", "nodes", **wanted)
    assert (len(group["name"]), len(network["name"]), subnet["name"]) == (10, 11, "nodes")
    inputs, _ = azure.check(GROUP, "rg", {}, olds=group["__inputs"])
    assert (inputs, inputs["azureApiVersion"]) == (group["__inputs"], "2024-03-01")


def test_somebody_elses_identity_can_be_read(azure: Azure) -> None:
    read = azure.invoke("managedidentity:getUserAssignedIdentity", resourceGroupName="network", resourceName="aks")
    assert {read["id"]: read["location"]} == dict.fromkeys(SUBSCRIPTION.existing_identities, "southcentralus")


def test_the_location_comes_from_the_connections_configuration_then_from_the_group(azure: Azure) -> None:
    group = azure.create(GROUP, "rg", location="westeurope")
    azure.context.caller = "a provider without a location"
    inputs, failures = azure.check("network:VirtualNetwork", "net", {"resourceGroupName": group["name"]})
    assert (inputs["location"], failures) == ("westeurope", [])
    _, failures = azure.check(GROUP, "other", {})
    assert "pulumi config set azure-native:location" in failures[0]


def test_the_plugin_folder_is_made_once(tmp_path: Path) -> None:
    folder = make_plugin_folder(tmp_path)
    launcher = folder / "pulumi-resource-azure-native"
    written = launcher.stat().st_mtime_ns
    assert folder.name == "resource-azure-native-v3.29.0"
    assert launcher.stat().st_mode & 0o111
    make_plugin_folder(tmp_path)
    assert launcher.stat().st_mtime_ns == written
