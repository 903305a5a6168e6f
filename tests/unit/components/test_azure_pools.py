"""Node pools: every key of a pool, what replaces one, and in which order they are made."""

from functools import partial
from typing import Any

import pulumi
import pytest
from aks_infiniband import Autoscale
from aks_infiniband.azure.agent_pool import NodePoolError, new_system_hook
from aks_infiniband.azure.node_pool import make_pools
from aks_infiniband.facts.pool import agent_pool_label

from declared.pulumi_mocks import Deploy, Deployment, Refusal
from tests.unit.components.azure_programs import NODES_SUBNET, PODS_SUBNET, POOL, node_pool, ordinary_pool, pool_args

_GROUP = "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers"
SNAPSHOT = f"{_GROUP}/Microsoft.ContainerService/snapshots/image"
RESERVATION = f"{_GROUP}/Microsoft.Compute/capacityReservationGroups/h100"


def inputs_of(deploy: Deploy, program: Any) -> dict[str, Any]:
    return deploy(program).one(POOL).inputs


@pytest.mark.field_report("A4", "A4b")
@pytest.mark.parametrize(("owner", "driver"), [("operator", "None"), ("aks", "Install"), ("none", "None")])
def test_the_owner_of_the_gpu_driver_decides_the_pools_gpu_profile(deploy: Deploy, owner: Any, driver: Any) -> None:
    assert inputs_of(deploy, lambda: node_pool(gpu_driver=owner).ready)["gpuProfile"] == {"driver": driver}


def test_machines_without_gpus_have_no_gpu_profile(deploy: Deploy) -> None:
    assert "gpuProfile" not in inputs_of(deploy, lambda: node_pool("hx", "Standard_HX176rs").ready)


@pytest.mark.field_report("A4b")
def test_a_pool_whose_gpu_driver_azure_gives_to_somebody_else_stops_the_deployment(deploy: Deploy) -> None:
    with pytest.raises(NodePoolError, match=r"gpuProfile\.driver Install in Azure; it must be None"):
        deploy(lambda: node_pool().ready, outputs={POOL: {"gpuProfile": {"driver": "Install"}}})


def test_the_gpu_operator_is_kept_off_gpus_that_nobody_here_owns(deploy: Deploy) -> None:
    label = {"nvidia.com/gpu.deploy.operands": "false"}
    assert inputs_of(deploy, lambda: node_pool(gpu_driver="none", labels={"team": "ml"}).ready)["nodeLabels"] == {
        "team": "ml",
        **label,
    }
    assert inputs_of(deploy, lambda: ordinary_pool(vm_size="Standard_NC24ads_A100_v4").ready)["nodeLabels"] == label
    for program in (
        lambda: node_pool(gpu_driver="operator").ready,
        lambda: node_pool(gpu_driver="aks").ready,
        lambda: node_pool("hx", "Standard_HX176rs").ready,
        lambda: node_pool("mi300x", "Standard_ND96isr_MI300X_v5").ready,
        lambda: ordinary_pool().ready,
    ):
        assert "nodeLabels" not in inputs_of(deploy, program)


@pytest.mark.field_report("D2", "D15")
def test_what_azure_cannot_change_in_place_replaces_the_pool_deleting_first(deploy: Deploy) -> None:
    request = deploy(lambda: node_pool().ready).one(POOL).request
    assert set(request["replaceOnChanges"]) == {
        "vmSize",
        "gpuProfile",
        "osSKU",
        "osType",
        "osDiskType",
        "osDiskSizeGB",
        "availabilityZones",
        "vnetSubnetID",
        "podSubnetID",
        "capacityReservationGroupID",
        "maxPods",
        "scaleSetPriority",
        "scaleSetEvictionPolicy",
        "spotMaxPrice",
        "type",
    }
    assert request["deleteBeforeReplace"] is True, "the name is taken, and so is the quota"
    assert {"create", "update", "delete"} <= set(request["customTimeouts"])


@pytest.mark.field_report("A8")
def test_labels_and_taints_live_on_the_pool(deploy: Deploy) -> None:
    inputs = inputs_of(deploy, lambda: node_pool(labels={"team": "ml"}, taints=("sku=gpu:NoSchedule",)).ready)
    assert inputs["nodeLabels"] == {"team": "ml"}
    assert inputs["nodeTaints"] == ["sku=gpu:NoSchedule"]
    assert (inputs["mode"], inputs["osSKU"], inputs["enableAutoScaling"]) == ("User", "Ubuntu", False)


@pytest.mark.field_report("A3b")
def test_every_other_key_of_a_pool_reaches_azure(deploy: Deploy) -> None:
    inputs = inputs_of(
        deploy,
        lambda: (
            node_pool(
                max_pods=110,
                os_sku="AzureLinux3",
                os_disk_size_gb=256,
                os_disk_type="Ephemeral",
                node_image_snapshot_id=SNAPSHOT,
                zones=("2",),
                pod_subnet_id=PODS_SUBNET,
                kubernetes_version="1.35",
            ).ready
        ),
    )
    assert (inputs["osSKU"], inputs["osDiskSizeGB"], inputs["osDiskType"]) == ("AzureLinux3", 256, "Ephemeral")
    assert inputs["maxPods"] == 110
    assert inputs["creationData"] == {"sourceResourceId": SNAPSHOT}
    assert inputs["availabilityZones"] == ["2"]
    assert (inputs["vnetSubnetID"], inputs["podSubnetID"]) == (NODES_SUBNET, PODS_SUBNET)
    assert inputs["orchestratorVersion"] == "1.35"
    assert inputs["upgradeSettings"] == {"maxSurge": "0", "maxUnavailable": "1"}


def test_a_pool_without_infiniband_takes_a_reservation(deploy: Deploy) -> None:
    inputs = inputs_of(deploy, lambda: ordinary_pool(capacity_reservation_group_id=RESERVATION).ready)
    assert inputs["capacityReservationGroupID"] == RESERVATION


def test_a_pool_is_as_large_as_the_placement_group_that_the_subscription_was_granted(deploy: Deploy) -> None:
    inputs = inputs_of(deploy, lambda: node_pool(node_count=140, placement_group_limit=300).ready)
    assert inputs["count"] == 140


@pytest.mark.field_report("D2b", "A7")
def test_an_autoscaled_pool_begins_with_its_count_and_follows_the_autoscaler_from_then_on(deploy: Deploy) -> None:
    def made(answer: Any) -> Any:
        bounds = Autoscale(min_count=1, max_count=8)
        deployment = deploy(lambda: node_pool(autoscale=bounds, begin=2).ready, answers={"getAgentPool": answer})
        assert deployment.calls == ["azure-native:containerservice:getAgentPool"]
        return deployment.one(POOL).inputs

    new = made(Refusal('Status=404 Code="NotFound" Message="Could not find the agent pool"'))
    assert new["enableAutoScaling"] is True
    assert (new["count"], new["minCount"], new["maxCount"]) == (2, 1, 8)
    assert made({"name": "ndh100", "count": 5})["count"] == 5


def test_a_pool_of_fixed_size_is_not_looked_up(deploy: Deploy) -> None:
    deployment = deploy(lambda: node_pool().ready)
    assert deployment.calls == []
    assert deployment.one(POOL).inputs["enableAutoScaling"] is False


def test_an_autoscaled_pool_that_cannot_be_looked_up_stops_the_deployment(deploy: Deploy) -> None:
    bounds = Autoscale(min_count=1, max_count=8)
    refused = {"getAgentPool": Refusal("Status=403 AuthorizationFailed")}
    with pytest.raises(Exception, match="AuthorizationFailed"):
        deploy(lambda: node_pool(autoscale=bounds).ready, answers=refused)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"node_count": 101}, "node_count is 101; must be 100 or fewer with InfiniBand: one placement group"),
        ({"autoscale": Autoscale(min_count=1, max_count=200)}, "autoscale.max_count is 200; must be 100 or fewer"),
        ({"node_count": 301, "placement_group_limit": 300}, "must be 300 or fewer with InfiniBand"),
        ({"placement_group_limit": 301}, "placement_group_limit is 301; must be from 100 to 300: Azure grants no more"),
        (
            {"capacity_reservation_group_id": RESERVATION},
            "nor for pools with InfiniBand, which are one placement group",
        ),
        ({"zones": ("1", "2")}, "must be one zone at most with InfiniBand: a fabric does not span zones"),
        ({"os_sku": "Ubuntu2404"}, "os_sku\n  Input should be 'Ubuntu', 'Ubuntu2204', 'AzureLinux'"),
        ({"size": "Standard_HX176rs", "gpu_driver": "operator"}, "gpu_driver is operator"),
        ({"size": "Standard_ND96isr_MI300X_v5", "gpu_driver": "aks"}, "must be operator or image or none for"),
        ({"size": "Standard_ND128isr_NDR_GB200_v6", "gpu_driver": "aks"}, "must be operator or image or none for"),
    ],
)
@pytest.mark.field_report("A1", "A3b", "A9")
def test_a_pool_that_could_not_be_one_working_fabric_is_refused_by_the_component_too(more: Any, reason: Any) -> None:
    with pytest.raises(ValueError, match=reason):
        pool_args(**more)


@pytest.mark.field_report("A3c")
def test_a_pool_that_azure_left_failed_stops_the_deployment(deploy: Deploy) -> None:
    with pytest.raises(NodePoolError, match="pool ndh100 is Failed in Azure; it must be Succeeded"):
        deploy(lambda: node_pool().ready, outputs={POOL: {"provisioningState": "Failed"}})


def test_an_ordinary_pool_is_made_and_left_alone(deploy: Deploy) -> None:
    inputs = inputs_of(deploy, lambda: ordinary_pool(taints=("a=b:NoSchedule",), zones=("1", "2", "3")).ready)
    assert (inputs["vmSize"], inputs["count"], inputs["mode"]) == ("Standard_D8s_v5", 3, "User")
    assert inputs["availabilityZones"] == ["1", "2", "3"]
    assert inputs["nodeTaints"] == ["a=b:NoSchedule"]
    assert not {"gpuProfile", "scaleSetPriority", "upgradeSettings"} & inputs.keys()
    assert agent_pool_label("web") == {"kubernetes.azure.com/agentpool": "web"}


def test_a_spot_pool_keeps_off_what_does_not_tolerate_it(deploy: Deploy) -> None:
    made = deploy(lambda: ordinary_pool(priority="Spot", labels={"a": "b"}, taints=("a=b:NoSchedule",)).ready).one(POOL)
    inputs = made.inputs
    assert (inputs["scaleSetPriority"], inputs["scaleSetEvictionPolicy"], inputs["spotMaxPrice"]) == (
        "Spot",
        "Delete",
        -1,
    )
    assert inputs["nodeTaints"] == ["a=b:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert inputs["nodeLabels"] == {"a": "b", "kubernetes.azure.com/scalesetpriority": "spot"}


@pytest.mark.field_report("R12")
@pytest.mark.parametrize(
    ("before", "after", "sku", "warns"),
    [
        ("1.34", "1.35.8", "Ubuntu", True),
        ("1.34.9", "1.35", "Ubuntu2204", False),
        ("1.35", "1.36", "Ubuntu", False),
        (None, "1.35", "Ubuntu", False),
    ],
)
def test_another_kubernetes_is_warned_of_where_ubuntu_becomes_another_system(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch, before: str | None, after: str, sku: str, warns: bool
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    old, new = ({"orchestratorVersion": version, "osSKU": sku} for version in (before, after))

    def program() -> pulumi.Output[Any]:
        hook = new_system_hook("hook")
        args = pulumi.ResourceHookArgs(urn="urn", id="id", name="rdma-nd", type=POOL, old_inputs=old, new_inputs=new)
        return pulumi.Output.from_input(hook(args))

    deploy(program)
    assert [text.partition(":")[0] for text in said] == ["rdma-nd"] * warns


def pools_made(deploy: Deploy, operations: Any) -> Deployment:
    def program() -> Any:
        gate = ordinary_pool("gate").ready
        makers = {name: partial(_make, name) for name in ("one", "two", "three")}
        made = make_pools(makers, operations=operations, opts=pulumi.ResourceOptions(depends_on=[gate]))
        return pulumi.Output.all(*(pool.ready for pool in made.values()))

    return deploy(program)


def _make(name: str, opts: pulumi.ResourceOptions) -> Any:
    return node_pool(name, opts=opts)


def waits(deployment: Deployment) -> dict[str, set[str]]:
    return {resource.name: resource.dependencies for resource in deployment.all(POOL)}


def test_pools_are_made_side_by_side_by_default(deploy: Deploy) -> None:
    assert waits(pools_made(deploy, "parallel")) == {"gate": set(), "one": {"gate"}, "two": {"gate"}, "three": {"gate"}}


@pytest.mark.field_report("D3")
def test_pools_are_made_one_at_a_time_by_setting(deploy: Deploy) -> None:
    assert waits(pools_made(deploy, "serial")) == {
        "gate": set(),
        "one": {"gate"},
        "two": {"gate", "one"},
        "three": {"gate", "two"},
    }
