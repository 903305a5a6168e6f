"""Upgrades on the simulated AKS, requested with Azure's own client: versions, node images, stops, and ways back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.azure.login import login
from aks_infiniband_cli.azure.rehearsed import VARIABLE, rehearsed
from azure.core.exceptions import HttpResponseError
from azure.mgmt.containerservice import ContainerServiceClient

from rehearsal.azure.cloud import NODE_IMAGE_RELEASE
from rehearsal.azure.resource_manager import serve_people, serve_resource_manager
from rehearsal.azure.wire import Properties
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.run.folder import RunFolder
from tests.simulator.unit.azure.asking import Azure, RefusedError, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.pools import CLUSTER, IN_PLACE, POOL, machines

LATER = "209912.01.0"


@pytest.fixture
def client(azure: Azure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContainerServiceClient]:
    """Azure's client, in a shell of a rehearsal."""
    run = RunFolder.at(tmp_path / "run")
    run.prepare()
    write_credentials(run, api_server_port=1)
    servers = [serve_resource_manager(azure.cloud), serve_people(azure.cloud, run)]
    monkeypatch.setenv(VARIABLE, str(run.azure_login))
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    found = rehearsed()
    assert found
    yield Clients(login(), found.endpoint, found.subscription, polling_interval=0.01).aks
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def place(azure: Azure, cluster: Properties) -> tuple[str, str]:
    """Resource group and cluster of a pool `nd` of three machines, upgraded in place."""
    azure.create(POOL, "nd", **pool_inputs(cluster, count=3, upgradeSettings=IN_PLACE))
    return cluster["__inputs"]["resourceGroupName"], cluster["name"]


def control_plane(client: ContainerServiceClient, place: tuple[str, str], version: str) -> Any:
    wanted = client.managed_clusters.get(*place)
    wanted.kubernetes_version = version
    return client.managed_clusters.begin_create_or_update(*place, wanted).result()


def begun(client: ContainerServiceClient, place: tuple[str, str], **changes: Any) -> Any:
    """A PUT of the pool with changes. A node image that is named would have it rolled back."""
    wanted = client.agent_pools.get(*place, "nd")
    wanted.node_image_version = None
    for key, value in changes.items():
        setattr(wanted, key, value)
    return client.agent_pools.begin_create_or_update(*place, "nd", wanted)


def kubelets(azure: Azure) -> list[str]:
    return [node["status"]["nodeInfo"]["kubeletVersion"] for node in machines(azure, "nd")]


def test_the_control_plane_goes_first_and_the_pools_keep_their_version(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    with pytest.raises(HttpResponseError, match=r"NodePoolMcVersionIncompatible.*36 is bigger than control plane"):
        begun(client, place, orchestrator_version="1.36")
    assert control_plane(client, place, "1.36").current_kubernetes_version == "1.36.3"
    assert (kubelets(azure), azure.machines.drained) == (["v1.35.8"] * 3, [])
    profile = client.agent_pools.get_upgrade_profile(*place, "nd")
    assert [each.kubernetes_version for each in profile.upgrades] == ["1.36.3"]
    begun(client, place, orchestrator_version="1.36").result()
    assert (kubelets(azure), len(azure.machines.drained)) == (["v1.36.3"] * 3, 3)
    assert client.agent_pools.get(*place, "nd").provisioning_state == "Succeeded"


def test_the_control_plane_skips_no_minor_version(client: ContainerServiceClient, place: tuple[str, str]) -> None:
    words = r"Upgrading Kubernetes version 1.35.8 to 1.37.0 is not allowed. Available upgrades: \[1.36.3\]"
    with pytest.raises(HttpResponseError, match=words):
        control_plane(client, place, "1.37")


def test_a_pool_may_be_three_minor_versions_behind_and_no_further(azure: Azure, group: Properties) -> None:
    long = {"supportPlan": "AKSLongTermSupport", "sku": {"name": "Base", "tier": "Premium"}}
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group, kubernetesVersion="1.32", **long))
    for version in ("1.33", "1.34", "1.35"):
        cluster = azure.update(CLUSTER, "aks", cluster, kubernetesVersion=version)
    with pytest.raises(RefusedError, match=r"cannot be more than 3 versions less.*is 32 and control plane is 36"):
        azure.update(CLUSTER, "aks", cluster, kubernetesVersion="1.36")


def test_a_budget_that_holds_a_pod_stops_the_upgrade_and_the_next_request_goes_on(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    control_plane(client, place, "1.36")
    second = sorted(node["metadata"]["name"] for node in machines(azure, "nd"))[1]
    azure.machines.held = {second}
    with pytest.raises(HttpResponseError, match=f"Drain node {second} failed when evicting pod job-0"):
        begun(client, place, orchestrator_version="1.36").result()
    assert client.agent_pools.get(*place, "nd").provisioning_state == "Failed"
    assert (sorted(kubelets(azure)), azure.machines.cordoned) == (["v1.35.8"] * 2 + ["v1.36.3"], [])
    azure.machines.held = set()
    begun(client, place, node_labels={"a": "b"}).result()
    assert kubelets(azure) == ["v1.36.3"] * 3
    assert len(azure.machines.drained) == 3, "none twice"


def test_an_upgrade_under_way_refuses_others_and_is_aborted_before_the_next_machine(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    control_plane(client, place, "1.36")
    azure.machines.held, azure.machines.patient = {node["metadata"]["name"] for node in machines(azure, "nd")}, True
    under_way = begun(client, place, orchestrator_version="1.36")
    assert client.agent_pools.get(*place, "nd").provisioning_state == "Upgrading"
    with pytest.raises(HttpResponseError, match="in progress update agent pool operation"):
        begun(client, place, orchestrator_version="1.36")
    client.agent_pools.begin_abort_latest_operation(*place, "nd", polling=False)
    with pytest.raises(HttpResponseError):
        under_way.result()
    assert client.agent_pools.get(*place, "nd").provisioning_state == "Canceled"
    assert (azure.machines.cordoned, kubelets(azure)) == ([], ["v1.35.8"] * 3)
    with pytest.raises(HttpResponseError, match="no operation in progress"):
        client.agent_pools.begin_abort_latest_operation(*place, "nd", polling=False)


def test_a_newer_node_image_comes_when_it_is_asked_for_and_brings_another_kernel(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    kernels = {node["status"]["nodeInfo"]["kernelVersion"] for node in machines(azure, "nd")}
    (azure.cloud.store.folder / NODE_IMAGE_RELEASE).write_text(LATER)
    begun(client, place, node_labels={"a": "b"}).result()
    assert azure.machines.drained == [], "no other change brings it"
    latest = client.agent_pools.get_upgrade_profile(*place, "nd").latest_node_image_version
    client.agent_pools.begin_upgrade_node_image_version(*place, "nd").result()
    nodes = machines(azure, "nd")
    assert {node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"] for node in nodes} == {latest}
    assert latest.endswith(LATER)
    assert not kernels & {node["status"]["nodeInfo"]["kernelVersion"] for node in nodes}
    assert kubelets(azure) == ["v1.35.8"] * 3


def test_a_pool_goes_back_to_the_system_before_its_last_upgrade_and_to_no_other(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    control_plane(client, place, "1.36")
    begun(client, place, orchestrator_version="1.36").result()
    with pytest.raises(HttpResponseError, match=r"Downgrading the Kubernetes version of agent pool nd from 1.36.3"):
        begun(client, place, orchestrator_version="1.35")
    with pytest.raises(HttpResponseError, match="can only be current version"):
        begun(client, place, orchestrator_version="1.35.8", node_image_version="AKSUbuntu-2404gen2containerd-202601.1")
    (before,) = client.agent_pools.get_upgrade_profile(*place, "nd").recently_used_versions
    back = {"orchestrator_version": before.orchestrator_version, "node_image_version": before.node_image_version}
    begun(client, place, **back).result()
    assert kubelets(azure) == ["v1.35.8"] * 3
    assert client.agent_pools.get_upgrade_profile(*place, "nd").recently_used_versions is None


def test_the_newest_of_the_systems_that_a_pool_had_is_the_one_to_go_back_to(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    for version in ("1.36", "1.37"):
        control_plane(client, place, version)
        begun(client, place, orchestrator_version=version).result()
    listed = client.agent_pools.get_upgrade_profile(*place, "nd").recently_used_versions
    assert [each.orchestrator_version for each in listed or ()] == ["1.35.8", "1.36.3"]
    found = rehearsed()
    assert found
    before = Aks(Clients(login(), found.endpoint, found.subscription), *place).next_of("nd").before
    assert before is not None
    assert before[0] == "1.36.3"


def test_a_surge_adds_a_machine_that_goes_again(
    azure: Azure, client: ContainerServiceClient, place: tuple[str, str]
) -> None:
    control_plane(client, place, "1.36")
    before = set(azure.machines.nodes)
    surging = client.agent_pools.get(*place, "nd").upgrade_settings
    surging.max_surge, surging.max_unavailable = "1", "0"
    begun(client, place, orchestrator_version="1.36", upgrade_settings=surging).result()
    assert set(azure.machines.nodes) == before
    assert len(azure.machines.drained) == 4, "three machines, and the one that came for the upgrade"
    assert any(told.startswith("Surge: Created a surge node [aks-nd-") for told in azure.machines.told)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"drainTimeoutInMinutes": 4}, "drainTimeoutInMinutes.*between 5 and 1440"),
        ({"nodeSoakDurationInMinutes": 31}, "nodeSoakDurationInMinutes.*between 0 and 30"),
    ],
)
def test_times_that_aks_does_not_take_are_refused(
    azure: Azure, cluster: Properties, settings: dict[str, int], words: str
) -> None:
    with pytest.raises(RefusedError, match=words):
        azure.create(POOL, "nd", **pool_inputs(cluster, upgradeSettings={**IN_PLACE, **settings}))
