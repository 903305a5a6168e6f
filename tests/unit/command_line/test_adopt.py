"""The result of `adopt` for a cluster and the node pools that Azure shows: pure, without a cluster and without
Azure.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from aks_infiniband.azure import read_back
from aks_infiniband.facts.dranet import DEVICE_CLASS, DRIVER
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.operators.offered import Seen
from aks_infiniband.stack.load import load
from aks_infiniband_cli.adopt.describing import AksPlace, Description, PoolThere, describe, why_not_taken_over
from aks_infiniband_cli.adopt.files import import_text, stack_text
from aks_infiniband_cli.adopt.found import Found, pools_in, require_nodes_in
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main

from tests.some_pools import GB300, H100, HBV4, MI300X, pool
from tests.unit.components.stack_files import KUBECONFIG, NODE_SUBNET
from tests.unit.components.test_read_back import in_azure, infiniband, ordinary

SUBSCRIPTION: Final = "00000000-0000-0000-0000-0000000000aa"
PLACE: Final = AksPlace(subscription=SUBSCRIPTION, resource_group="g", name="guide")
ID: Final = f"/subscriptions/{SUBSCRIPTION}/resourcegroups/g/providers/Microsoft.ContainerService/managedClusters/guide"
BY_HAND: Final = {"upgradeSettings": {"maxSurge": "10%", "maxUnavailable": "0"}, "id": f"{ID}/agentPools/ndh100"}
NIC: Final = "feature.node.kubernetes.io/pci-15b3.present"
TOOLKIT: Final = {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]}


def node(number: int, size: str = H100, agent_pool: str | None = "ndh100", **more: Any) -> dict[str, Any]:
    """A node of AKS, or of a cluster without its labels. more: taints; offers: resources."""
    of_aks = {"kubernetes.azure.com/agentpool": agent_pool} if agent_pool else {}
    provider = f"azure:///subscriptions/{SUBSCRIPTION}/resourceGroups/mc_g/providers/x/{number}"
    return {
        "metadata": {
            "name": f"n{number}",
            "labels": {**of_aks, "node.kubernetes.io/instance-type": size, NIC: "true"},
        },
        "spec": {"providerID": provider, "taints": more.get("taints", [])},
        "status": {
            "allocatable": more.get("offers", {}),
            "nodeInfo": {"containerRuntimeVersion": "containerd://1.7.30"},
        },
    }


def policies(of: Pool) -> list[dict[str, Any]]:
    """The NicClusterPolicy that suits a pool."""
    spec = nic_policy_specs([of]).cluster
    return [{"kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy"}, "spec": spec}]


def gpu_policy(**spec: Any) -> list[dict[str, Any]]:
    return [{"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": {"toolkit": TOOLKIT, **spec}}]


def described(found: Found, azure: Mapping[str, Any] | None = None, *more: PoolThere) -> Description:
    """azure: of the pool ndh100, if it is to be taken over."""
    there, left = pools_in(found.nodes)
    wanted = [PoolThere(nodes=each, azure=azure if each.name == "ndh100" else None) for each in there]
    made = describe(found, [*wanted, *more], kubeconfig={"kubeconfig": str(KUBECONFIG)}, aks=PLACE, load=load)
    made.left[:0] = left
    return made


def cluster(*nodes: dict[str, Any], nics: Any = (), gpus: Any = (), mode: str = "rdma-shared") -> Found:
    """nodes: those of two that offer what the policies say."""
    resources = {"rdma-shared": "rdma/shared_ib", "sriov": "rdma/ib"}
    offers = {resources[mode]: "8"} if nics and mode in resources else {}
    two = (node(0, offers=offers), node(1, offers=offers))
    return Found(nodes=nodes or two, seen=Seen(policies=list(nics)), gpu_policies=list(gpus))


def section(made: Description, name: str) -> Any:
    return made.configuration.get(f"aks-infiniband:{name}")


GUIDE: Final = cluster(nics=policies(pool()), gpus=gpu_policy(driver={"rdma": {"enabled": True}}))


def test_a_cluster_of_the_guide_is_a_pool_by_its_label_beside_operators_of_others() -> None:
    made = described(GUIDE)
    assert section(made, "pools") == [
        {
            "name": "ndh100",
            "vmSize": H100,
            "count": 2,
            "nodeSelector": {"kubernetes.azure.com/agentpool": "ndh100"},
        }
    ]
    assert section(made, "networkOperator") == {"existing": True, "mode": "rdma-shared"}
    assert section(made, "gpuOperator") == {"existing": True}
    assert made.left == []
    assert made.stack is not None
    assert made.stack.adopted is None


@pytest.mark.parametrize("mode", ["rdma-shared", "sriov"])
@pytest.mark.parametrize("nic_driver", ["doca-ofed", "inbox"])
def test_mode_and_driver_are_those_that_the_policy_serves(mode: Any, nic_driver: Any) -> None:
    nics = policies(pool(mode=mode, nic_driver=nic_driver))
    made = described(
        cluster(nics=nics, gpus=gpu_policy(driver={"rdma": {"enabled": nic_driver == "doca-ofed"}}), mode=mode)
    )
    assert made.stack is not None
    assert (made.stack.pools[0].mode, made.stack.pools[0].nic_driver) == (mode, nic_driver)


def test_a_policy_without_a_device_plugin_serves_privileged_pods() -> None:
    made = described(cluster(nics=policies(pool(mode="driver-only")), gpus=gpu_policy(), mode="driver-only"))
    assert section(made, "networkOperator")["mode"] == "driver-only"


@pytest.mark.parametrize(("rdma", "direct"), [({"enabled": True}, None), ({"enabled": False}, "auto")])
def test_the_way_to_the_gpus_memory_is_that_of_the_cluster_policy(rdma: Any, direct: str | None) -> None:
    made = described(cluster(nics=policies(pool()), gpus=gpu_policy(driver={"rdma": rdma})))
    assert section(made, "pools")[0].get("gpuDirect") == direct


def test_without_operators_the_program_installs_its_own() -> None:
    made = described(cluster())
    assert section(made, "networkOperator") == {"mode": "rdma-shared"}
    assert section(made, "gpuOperator") is None


def test_gpus_that_something_else_offers_are_left_to_it() -> None:
    offers = {"nvidia.com/gpu": "8"}
    made = described(cluster(node(0, offers=offers), node(1, offers=offers), nics=policies(pool())))
    assert section(made, "pools")[0]["gpuDriver"] == "none"


def test_hcas_that_a_device_plugin_without_a_policy_offers_leave_the_pool_out() -> None:
    offers = {"rdma/hca_shared_devices_a": "63"}
    made = described(cluster(node(0, offers=offers), node(1, offers=offers)))
    assert made.stack is None
    (left,) = made.left
    assert left.what == "pool ndh100"
    assert "a second device plugin" in left.why


def test_hcas_that_pods_claim_leave_the_pool_out() -> None:
    published = {"spec": {"driver": DRIVER, "nodeName": "n0"}}
    nodes = (node(0), node(1))
    seen = Seen(slices=[published], device_classes=[DEVICE_CLASS])
    made = described(Found(nodes=nodes, seen=seen, gpu_policies=[]))
    assert made.stack is None
    assert "dra (" in made.left[0].why


def test_ipoib_networks_are_told_and_stay() -> None:
    network = {"metadata": {"name": "aks-infiniband"}, "spec": {"master": "ibP257p0s0"}}
    seen = Seen(policies=policies(pool()), networks=[network])
    made = described(Found(nodes=cluster(nics=[1]).nodes, seen=seen, gpu_policies=[]))
    assert [each.what for each in made.left] == ["IPoIB networks of pool ndh100"]
    assert section(made, "networkOperator")["mode"] == "rdma-shared"


def test_nodes_without_aks_labels_are_known_by_their_size_and_prepared() -> None:
    made = described(cluster(node(0, agent_pool=None), node(1, agent_pool=None)))
    (found,) = section(made, "pools")
    assert found["nodeSelector"] == {"node.kubernetes.io/instance-type": H100}
    assert found["name"] == "ndh100"
    assert section(made, "networkOperator")["nodePreparation"] is True


def test_taints_are_those_of_all_nodes_that_a_person_has_given() -> None:
    own = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
    cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    made = described(cluster(node(0, taints=[own, cordoned]), node(1, taints=[own])))
    assert section(made, "pools")[0]["taints"] == ["sku=gpu:NoSchedule"]


def test_sizes_without_infiniband_are_nothing_to_it_and_unknown_ones_are_told() -> None:
    unknown = node(7, "Standard_ND999isr_B900_v9", "new")
    pools, left = pools_in([node(0), node(5, "Standard_D8s_v5", "system"), unknown])
    assert [found.name for found in pools] == ["ndh100"]
    assert [each.what for each in left] == ["nodes of agent pool new, size Standard_ND999isr_B900_v9"]


@pytest.mark.parametrize("size", [HBV4, MI300X, GB300])
def test_pools_of_other_machines_are_described(size: str) -> None:
    made = described(cluster(node(0, size, "other"), node(1, size, "other")))
    assert made.stack is not None, made.left
    assert made.stack.pools[0].size.name == size


def test_one_node_is_no_pool_and_is_told_with_the_loaders_reason() -> None:
    made = described(cluster(node(0)))
    assert made.stack is None
    assert "pools[0].count is 1; must be 2 or more" in made.left[0].why


def test_a_pool_of_azure_is_taken_over_with_its_properties() -> None:
    azure = in_azure(infiniband(labels={"team": "ml"}), **BY_HAND, vnetSubnetID=NODE_SUBNET, tags={"owner": "ml"})
    made = described(GUIDE, azure)
    (taken,) = made.taken
    assert taken.id == BY_HAND["id"]
    assert [change.partition(" ")[0] for change in taken.changes] == [
        "upgradeSettings",
        "orchestratorVersion",
        "powerState",
    ]
    (found,) = section(made, "pools")
    assert "nodeSelector" not in found
    assert found["labels"] == {"team": "ml"}
    assert (found["maxPods"], found["osDiskSizeGb"]) == (250, 1000)
    assert section(made, "existingCluster")["aks"] == {
        "resourceGroup": "g",
        "name": "guide",
        "nodePools": {"ndh100": {"subnetId": NODE_SUBNET, "tags": {"owner": "ml"}}},
    }
    assert made.configuration["azure-native:subscriptionId"] == SUBSCRIPTION


def test_the_driver_that_aks_installs_stays_its_own() -> None:
    made = described(cluster(nics=policies(pool())), in_azure(infiniband("aks"), **BY_HAND))
    assert [taken.name for taken in made.taken] == ["ndh100"]
    assert section(made, "pools")[0]["gpuDriver"] == "aks"


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        ({"vmSize": H100.lower()}, "pools[0].vmSize is 'standard_nd96isr_h100_v5'; must be a known InfiniBand size"),
        ({"type": "VirtualMachines"}, "Pulumi would replace it, because it cannot change type from VirtualMachines"),
        ({"gpuProfile": None}, "Pulumi would replace it, because it cannot change gpuProfile from nothing"),
        ({"tags": {"azure-cost": "1"}}, "must not begin with azure, microsoft or windows"),
        ({"scaleSetPriority": "Spot"}, "must be Regular with InfiniBand"),
    ],
)
def test_a_pool_that_cannot_be_taken_over_stays_with_others_and_is_described(shown: Any, why: str) -> None:
    made = described(GUIDE, in_azure(infiniband(), **{**BY_HAND, **shown}))
    assert made.taken == []
    (left,) = made.left
    assert why in left.why
    assert left.why.endswith("its nodes are only used")
    assert section(made, "pools")[0]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "ndh100"}
    assert "azure-native:subscriptionId" not in made.configuration


@pytest.mark.parametrize(
    ("shown", "why"),
    [({"mode": "System"}, "it is a system pool"), ({"provisioningState": "Failed"}, "it is Failed in Azure")],
)
def test_system_pools_and_pools_that_are_not_well_stay_with_others(shown: Any, why: str) -> None:
    found = why_not_taken_over(in_azure(infiniband(), **shown))
    assert found is not None
    assert found.startswith(why)
    assert why_not_taken_over(in_azure(infiniband())) is None


def test_a_pool_without_infiniband_can_be_taken_over() -> None:
    cpu = PoolThere(nodes=None, azure={**in_azure(ordinary()), "id": f"{ID}/agentPools/cpu"})
    made = described(GUIDE, None, cpu)
    assert [(taken.name, taken.infiniband) for taken in made.taken] == [("cpu", False)]
    assert section(made, "pools")[1]["infiniband"] is False


def test_a_pool_without_infiniband_that_pulumi_would_replace_is_left_out() -> None:
    cpu = PoolThere(nodes=None, azure={**in_azure(ordinary()), "type": "VirtualMachines", "id": f"{ID}/agentPools/cpu"})
    made = described(GUIDE, None, cpu)
    assert [each.what for each in made.left] == ["pool cpu"]
    assert [pool["name"] for pool in section(made, "pools")] == ["ndh100"]


def test_a_kubeconfig_of_another_cluster_than_azures_is_refused() -> None:
    pools, _ = pools_in([node(0)])
    require_nodes_in("MC_g", SUBSCRIPTION, "guide", pools)
    with pytest.raises(CommandError, match=r"n0 is not a machine of cluster other\. .* must name the same cluster"):
        require_nodes_in("MC_other", SUBSCRIPTION, "other", pools)


def test_the_files_are_read_by_the_program_and_by_pulumi(tmp_path: Path) -> None:
    made = described(GUIDE, in_azure(infiniband(), **BY_HAND))
    written = yaml.safe_load(stack_text(made.configuration, cluster="guide"))["config"]
    assert load(written).adopted is not None
    resources = json.loads(import_text(made.taken))["resources"]
    assert [resource["type"].rpartition(":")[2] for resource in resources] == [
        "RdmaCluster",
        "AdoptedPools",
        "InfinibandNodePool",
        "AgentPool",
    ]
    assert [resource.get("parent") for resource in resources] == [None, "cluster", "pools", "component of ndh100"]
    assert resources[-1]["id"] == BY_HAND["id"]
    assert resources[-1]["logicalName"] == "rdma-ndh100"


@pytest.mark.parametrize("flag", ["--cluster", "--resource-group"])
def test_half_of_a_name_in_azure_is_refused(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adopt", "lab", flag, "guide"]) == 2
    assert "give both, or neither" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Pulumi.lab.yaml", "Pulumi.lab.import.json"])
def test_no_file_is_written_over(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text("mine")
    assert main(["adopt", "lab", "--folder", str(tmp_path)]) == 2
    assert f"{name} is there already: name another stack" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"


def test_what_is_written_asks_azure_for_what_is_there() -> None:
    azure = in_azure(infiniband(), **BY_HAND)
    made = described(GUIDE, azure)
    assert made.stack is not None
    assert made.stack.adopted is not None
    wanted = read_back.asked(made.stack.adopted.of("ndh100"))
    assert [each.name for each in read_back.differences(azure, wanted)] == ["upgradeSettings"]
