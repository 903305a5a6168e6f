"""The objects for schedulers of pools: off by default, and their declaration if they are enabled."""

from typing import Any

import pulumi
import pytest
from aks_infiniband import PoolTopologyArgs
from aks_infiniband.stack import beforehand
from aks_infiniband.workload.scheduling import flavor_spec, hyper_node_spec, levels, topology_name
from aks_infiniband_cli.preflight import checks

from declared.pulumi_mocks import Deploy
from tests import some_pools
from tests.unit.components.others_cluster import OthersCluster, listed
from tests.unit.components.rdma_programs import program

COMPONENT = "aks-infiniband:index:PoolTopology"
TOPOLOGY = "kubernetes:kueue.x-k8s.io/v1beta2:Topology"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
HYPER_NODE = "kubernetes:topology.volcano.sh/v1alpha1:HyperNode"
PAIR = (("nd", some_pools.H100), ("hb", some_pools.HBV4))
OF_AKS = "kubernetes.azure.com/agentpool"


def test_no_scheduler_is_told_of_a_pool_unless_it_is_asked_for(deploy: Deploy) -> None:
    assert deploy(program()).all(COMPONENT) == []


def test_kueue_has_a_topology_and_a_flavor_for_each_pool_from_the_fabric_to_the_machine(deploy: Deploy) -> None:
    told = {"scheduler": "kueue", "levels": ["example.com/spine", "ib/torset"]}
    made = deploy(program(pools=PAIR, schedulerTopology=told))
    topologies = {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in made.all(TOPOLOGY)}
    flavors = {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in made.all(FLAVOR)}
    assert set(flavors) == {"infiniband-nd", "infiniband-hb"}
    assert {spec["topologyName"] for spec in flavors.values()} == set(topologies)
    assert flavors["infiniband-nd"]["nodeLabels"] == {OF_AKS: "nd"}
    labels = [OF_AKS, "example.com/spine", "ib/torset", "kubernetes.io/hostname"]
    for spec in topologies.values():
        assert [level["nodeLabel"] for level in spec["levels"]] == labels
    assert made.all(HYPER_NODE) == []


def test_volcano_has_a_hyper_node_for_each_pool_that_selects_nodes_by_their_labels(deploy: Deploy) -> None:
    made = deploy(program(pools=PAIR, schedulerTopology={"scheduler": "volcano"}))
    specs = {each.inputs["metadata"]["name"]: each.inputs["spec"] for each in made.all(HYPER_NODE)}
    assert {name: spec["members"][0]["selector"]["labelMatch"]["matchLabels"] for name, spec in specs.items()} == {
        f"infiniband-{name}": {OF_AKS: name} for name, _ in PAIR
    }
    assert made.all(FLAVOR) == []


def test_a_queue_gets_a_pool_once_it_is_validated(deploy: Deploy) -> None:
    made = deploy(program(schedulerTopology={"scheduler": "kueue"}))
    assert {"rdma-ndh100-validate", "rdma-ndh100-report"} <= made.one(FLAVOR).dependencies


def test_a_job_needs_the_tolerations_of_the_pool_as_without_kueue_and_they_may_change() -> None:
    tainted = some_pools.pool(taints=("sku=gpu:NoSchedule", "team:NoExecute"))
    assert flavor_spec(tainted)["nodeTaints"] == [
        {"key": "sku", "value": "gpu", "effect": "NoSchedule"},
        {"key": "team", "effect": "NoExecute"},
    ]
    assert "tolerations" not in flavor_spec(tainted)
    assert "nodeTaints" not in flavor_spec(some_pools.pool())


def test_other_levels_are_another_topology_and_the_same_ones_the_same() -> None:
    given = some_pools.pool()
    assert topology_name(given) == topology_name(some_pools.pool(taints=("sku=gpu:NoSchedule",)))
    assert len({topology_name(given), topology_name(given, ["a"]), topology_name(given, ["b", "a"])}) == 3


@pytest.mark.parametrize("given", [(), ("nvidia.com/gpu.clique",)])
def test_the_nvlink_domain_of_gb300_is_a_level_once_and_of_other_machines_none(given: tuple[str, ...]) -> None:
    rack = some_pools.pool(size="Standard_ND128isr_GB300_v6")
    assert levels(rack, given) == [OF_AKS, "nvidia.com/gpu.clique", "kubernetes.io/hostname"]
    assert levels(some_pools.pool()) == [OF_AKS, "kubernetes.io/hostname"]


def test_a_pool_of_others_is_known_by_its_own_labels() -> None:
    given = some_pools.pool(node_selector={"example.com/fabric": "a", "example.com/site": "x"})
    assert flavor_spec(given)["nodeLabels"] == {"example.com/fabric": "a", "example.com/site": "x"}
    (member,) = hyper_node_spec(given)["members"]
    assert member["selector"]["labelMatch"]["matchLabels"] == flavor_spec(given)["nodeLabels"]


def test_what_nobody_may_change_of_a_flavor_is_replaced_under_the_same_name(deploy: Deploy) -> None:
    request = deploy(program(schedulerTopology={"scheduler": "kueue"})).one(FLAVOR).request
    assert request["replaceOnChanges"] == ["spec.nodeLabels", "spec.topologyName"]
    assert request["deleteBeforeReplace"] is True


def test_the_component_refuses_the_same_levels_as_the_settings() -> None:
    with pytest.raises(ValueError, match=r"level kubernetes.io/hostname is the last level anyway"):
        PoolTopologyArgs(pool=some_pools.pool(), levels=["kubernetes.io/hostname"])
    with pytest.raises(ValueError, match=r"level a must be listed once"):
        PoolTopologyArgs(pool=some_pools.pool(), levels=["a", "a"])


KUEUE = ["kueue.x-k8s.io/v1beta2/topologies", "kueue.x-k8s.io/v1beta2/resourceflavors"]


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("scheduler", "known", "words"),
    [
        (
            "kueue",
            [],
            r"no Topology and no ResourceFlavor of kueue.x-k8s.io/v1beta2, which.*helm install kueue oci:",
        ),
        ("kueue", KUEUE[:1], r"the cluster has no ResourceFlavor of kueue"),
        ("volcano", KUEUE[:1], r"no HyperNode of topology.volcano.sh/v1alpha1.*helm install volcano"),
    ],
)
def test_definitions_that_are_missing_are_named_with_what_brings_them_before_anything_is_made_in_the_cluster(
    deploy: Deploy, others: OthersCluster, scheduler: Any, known: list[str], words: str, preview: bool
) -> None:
    others.answers = {"/api/v1/nodes": listed(), **{f"/apis/{kind}": listed() for kind in known}}
    told = {"schedulerTopology": {"scheduler": scheduler}}
    with pytest.raises(pulumi.RunError, match=f"(?s){words}"):
        deploy(others.program(told), preview=preview)
    states = [checks.beforehand(look).state for look in beforehand.looks(others.kubeconfig, others.stack(told))]
    assert states == ["pass", "fail"]


def test_a_cluster_that_has_the_definitions_is_gone_on_with(deploy: Deploy, others: OthersCluster) -> None:
    others.answers = {"/api/v1/nodes": listed(), **{f"/apis/{kind}": listed() for kind in KUEUE}}
    assert len(deploy(others.program({"schedulerTopology": {"scheduler": "kueue"}})).all(FLAVOR)) == 1
