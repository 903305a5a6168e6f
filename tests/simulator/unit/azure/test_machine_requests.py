"""A machine that is there is restarted, redeployed, deleted and made again, by requests of Azure's real clients."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import words_of
from aks_infiniband_cli.azure.login import endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import VARIABLE
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.containerservice import ContainerServiceClient

from rehearsal.azure import asked_operations
from rehearsal.azure.node_parts import BOOT_ANNOTATION, MACHINE_ANNOTATION
from rehearsal.azure.resource_manager import serve_people, serve_resource_manager
from rehearsal.azure.subscription_faults import Fault
from rehearsal.azure.wire import Properties
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.run.folder import RunFolder
from rehearsal.run.latency import Latencies
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, MakeAzure, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.pools import POOL, machines
from tests.unit.field_recordings.shapes import body

Pair = tuple[ComputeManagementClient, ContainerServiceClient]
HELD = ("ndh100", {"vmSize": "Standard_HB120rs_v3", "count": 3})


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Azure], Pair]]:
    """Serves a simulated Azure to people, and gives the clients of one that is logged in."""
    servers = []

    def begin(azure: Azure) -> Pair:
        run = RunFolder.at(tmp_path / "run")
        run.prepare()
        write_credentials(run, api_server_port=1)
        servers.extend([serve_resource_manager(azure.cloud), serve_people(azure.cloud, run)])
        monkeypatch.setenv(VARIABLE, str(run.azure_login))
        clients = Clients(login(), endpoint_of({}), SUBSCRIPTION.subscription_id, polling_interval=1)
        return clients.compute, clients.aks

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def pool_of(azure: Azure) -> dict[str, Any]:
    """A pool of three machines: its scale set, and the names in every request."""
    group = azure.create("resources:ResourceGroup", "rg")
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    azure.create(POOL, HELD[0], **pool_inputs(cluster, **HELD[1]))
    parts = machines(azure, HELD[0])[0]["spec"]["providerID"].split("/")
    scale_set = {"resource_group_name": parts[6], "vm_scale_set_name": parts[10]}
    pool = {"resource_group_name": group["name"], "resource_name": cluster["name"], "agent_pool_name": HELD[0]}
    return {"scale_set": scale_set, "pool": pool}


def boots(azure: Azure, number: int) -> Properties:
    annotations = machines(azure, HELD[0])[number]["metadata"]["annotations"]
    return {"boot": json.loads(annotations[BOOT_ANNOTATION]), "machine": json.loads(annotations[MACHINE_ANNOTATION])}


def test_a_restart_boots_the_machine_and_leaves_it_where_it_is(azure: Azure, serve: Callable[[Azure], Pair]) -> None:
    (compute, _), held = serve(azure), pool_of(azure)
    compute.virtual_machine_scale_set_vms.begin_restart(**held["scale_set"], instance_id="1").result()
    found = boots(azure, 1)
    assert found["boot"] == {"number": 1, "action": "restart", "disk": "kept"}
    assert "host" not in found["machine"]


def test_a_redeployed_machine_is_on_another_host_and_has_a_new_disk_where_that_is_ephemeral(
    azure: Azure, serve: Callable[[Azure], Pair]
) -> None:
    (compute, _), held = serve(azure), pool_of(azure)
    name, size_id = machines(azure, HELD[0])[1]["metadata"]["name"], machines(azure, HELD[0])[1]["status"]["nodeInfo"]
    compute.virtual_machine_scale_set_vms.begin_redeploy(**held["scale_set"], instance_id="1").result()
    found = boots(azure, 1)
    assert found["machine"]["host"] == 1
    record = azure.cloud.store.get(pool_id(azure))
    assert record
    assert (record.outputs["osDiskType"], found["boot"]["disk"]) == ("Ephemeral", "new")
    assert machines(azure, HELD[0])[1]["metadata"]["name"] == name
    assert machines(azure, HELD[0])[1]["status"]["nodeInfo"]["systemUUID"] == size_id["systemUUID"]


def pool_id(azure: Azure) -> str:
    return next(record.id for record in azure.cloud.store.all(f"azure-native:{POOL}") if record.id.endswith(HELD[0]))


def test_a_deleted_machine_takes_one_off_the_count_and_a_new_one_has_another_name(
    azure: Azure, serve: Callable[[Azure], Pair]
) -> None:
    (_, aks), held = serve(azure), pool_of(azure)
    names = [each["metadata"]["name"] for each in machines(azure, HELD[0])]
    listed = list(aks.machines.list(**held["pool"]))
    assert [each.name for each in listed] == names
    aks.agent_pools.begin_delete_machines(**held["pool"], machines={"machineNames": [names[1]]}).result()
    pool = aks.agent_pools.get(**held["pool"])
    assert (pool.count, azure.machines.drained) == (2, []), "AKS drains nothing that is deleted"
    pool.count = 3
    aks.agent_pools.begin_create_or_update(**held["pool"], parameters=pool).result()
    assert sorted(each["metadata"]["name"] for each in machines(azure, HELD[0])) == [
        names[0],
        names[2],
        names[2][:-1] + "3",
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AllocationFailed", "We do not have sufficient capacity"),
        ("ZonalAllocationFailed", "in this zone"),
        ("OverconstrainedAllocationRequest", "because the condition is too restrictive"),
        ("OverconstrainedZonalAllocationRequest", "because the condition is too restrictive"),
        ("QuotaExceeded", "exceeding approved standardHBv3Family Cores quota"),
        ("ErrCode_InsufficientVCPUQuota", "Insufficient vcpu quota requested 120, remaining 0"),
    ],
)
def test_a_pool_that_cannot_be_filled_again_says_so_in_azures_words(
    make_azure: MakeAzure, serve: Callable[[Azure], Pair], code: str, words: str
) -> None:
    fault = Fault.model_validate({"code": code, "operations": ["update"]})
    azure = make_azure(faults=(fault,))
    (_, aks), held = serve(azure), pool_of(azure)
    name = machines(azure, HELD[0])[0]["metadata"]["name"]
    aks.agent_pools.begin_delete_machines(**held["pool"], machines={"machineNames": [name]}).result()
    pool = aks.agent_pools.get(**held["pool"])
    pool.count = 3
    with pytest.raises(HttpResponseError, match=words) as refused:
        aks.agent_pools.begin_create_or_update(**held["pool"], parameters=pool).result()
    assert refused.value.error
    assert refused.value.error.code == code
    assert len(machines(azure, HELD[0])) == 2


def test_azures_clients_do_not_send_a_refused_request_again(
    make_azure: MakeAzure, serve: Callable[[Azure], Pair]
) -> None:
    """An answer with Retry-After has them repeat it: then a request that is refused once would succeed."""
    fault = Fault.model_validate({"code": "QuotaExceeded", "operations": ["update"], "first": 1})
    azure = make_azure(faults=(fault,))
    (_, aks), held = serve(azure), pool_of(azure)
    azure.cloud.clock.latencies = Latencies(speed=60)
    pool = aks.agent_pools.get(**held["pool"])
    with pytest.raises(HttpResponseError, match="QuotaExceeded"):
        aks.agent_pools.begin_create_or_update(**held["pool"], parameters=pool)


def test_a_restart_that_hangs_is_ended_by_a_later_redeployment(
    make_azure: MakeAzure, serve: Callable[[Azure], Pair]
) -> None:
    fault = {"code": "Hang", "type": "VirtualMachine", "operations": ["restart"]}
    azure = make_azure(faults=(Fault.model_validate(fault),))
    (compute, _), held = serve(azure), pool_of(azure)
    hanging = compute.virtual_machine_scale_set_vms.begin_restart(**held["scale_set"], instance_id="0")
    assert hanging.status() == "InProgress"
    compute.virtual_machine_scale_set_vms.begin_redeploy(**held["scale_set"], instance_id="0").result()
    with pytest.raises(HttpResponseError) as ended:
        hanging.result()
    assert ended.value.error
    assert ended.value.error.code == "OperationPreempted"


def test_a_host_that_cannot_be_found_fails_a_redeployment(
    make_azure: MakeAzure, serve: Callable[[Azure], Pair]
) -> None:
    fault = {"code": "AllocationFailed", "type": "VirtualMachine", "operations": ["redeploy"]}
    azure = make_azure(faults=(Fault.model_validate(fault),))
    (compute, _), held = serve(azure), pool_of(azure)
    with pytest.raises(HttpResponseError, match="Allocation failed"):
        compute.virtual_machine_scale_set_vms.begin_redeploy(**held["scale_set"], instance_id="0").result()
    assert BOOT_ANNOTATION not in machines(azure, HELD[0])[0]["metadata"]["annotations"]


def test_what_is_not_there_is_refused(azure: Azure, serve: Callable[[Azure], Pair]) -> None:
    (compute, aks), held = serve(azure), pool_of(azure)
    with pytest.raises(ResourceNotFoundError):
        compute.virtual_machine_scale_set_vms.begin_restart(**held["scale_set"], instance_id="9")
    with pytest.raises(HttpResponseError, match="are not in agent pool"):
        aks.agent_pools.begin_delete_machines(**held["pool"], machines={"machineNames": ["aks-other"]})


def test_a_pool_that_somebody_has_changed_since_it_was_read_is_not_overruled(
    azure: Azure, serve: Callable[[Azure], Pair]
) -> None:
    (_, aks), held = serve(azure), pool_of(azure)
    read = aks.agent_pools.get(**held["pool"])
    name = machines(azure, HELD[0])[0]["metadata"]["name"]
    aks.agent_pools.begin_delete_machines(**held["pool"], machines={"machineNames": [name]}).result()
    matching: dict[str, Any] = {"etag": read.e_tag, "match_condition": MatchConditions.IfNotModified}
    with pytest.raises(ResourceModifiedError) as refused:
        aks.agent_pools.begin_create_or_update(**held["pool"], parameters=read, **matching)
    assert words_of(refused.value).startswith("PreconditionFailed: ")
    assert aks.agent_pools.get(**held["pool"]).count == 2


def test_aks_refuses_in_the_shape_that_was_recorded_and_the_gateway_in_its_own(
    azure: Azure, serve: Callable[[Azure], Pair]
) -> None:
    (_, aks), held = serve(azure), pool_of(azure)
    with pytest.raises(HttpResponseError) as refused:
        aks.agent_pools.begin_delete_machines(**held["pool"], machines={"machineNames": ["aks-other"]})
    assert refused.value.response
    assert set(json.loads(refused.value.response.text())) == set(body("aks-cluster-refused"))
    assert words_of(refused.value) == f"InvalidParameter: Machines aks-other are not in agent pool {HELD[0]}."
    with pytest.raises(ResourceNotFoundError) as missing:
        aks.agent_pools.get(**{**held["pool"], "resource_name": "none"})
    assert missing.value.response
    assert set(json.loads(missing.value.response.text())) == set(body("aks-cluster-not-found"))


def test_a_simulator_that_is_started_again_carries_on_with_a_restart(make_azure: MakeAzure) -> None:
    azure = make_azure()
    pool_of(azure)
    record = azure.cloud.store.get(pool_id(azure))
    assert record
    record.details["asked"] = {
        "a": {"action": "restart", "instance": 0, "started": 0.0, "status": "InProgress", "fault": None}
    }
    asked_operations.resume(azure.cloud)
    while asked_operations.operation(azure.cloud, "a")["status"] == "InProgress":
        azure.cloud.clock.pause(0.01)
    assert asked_operations.operation(azure.cloud, "a")["status"] == "Succeeded"
    assert boots(azure, 0)["boot"]["number"] == 1
