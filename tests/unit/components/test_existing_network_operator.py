"""A Network Operator that others keep: its policies are judged, waited for, and nothing is installed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pytest
from aks_infiniband import ExistingNetworkOperator, ExistingNetworkOperatorArgs, RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators import existing_network_operator
from aks_infiniband.operators.existing_network_operator import Judge
from aks_infiniband.operators.existing_policy import PolicyError
from aks_infiniband.operators.nic_policy import nic_policy_specs

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool
from tests.unit.components.rdma_programs import JOB, RELEASE
from tests.unit.components.stack_files import changed, existing, mistakes
from tests.unit.components.stack_files import pool as written

NIC = "feature.node.kubernetes.io/pci-15b3.present"
GPU = "feature.node.kubernetes.io/pci-10de.present"
SHARED = nic_policy_specs([pool()]).cluster
SECTION = SHARED["rdmaSharedDevicePlugin"]


def policy(spec: Mapping[str, Any] = SHARED, kind: str = "NicClusterPolicy", state: str = "ready") -> dict[str, Any]:
    name = "nic-cluster-policy" if kind == "NicClusterPolicy" else "of-a-pool"
    late = [{"name": "state-OFED", "state": "notReady"}, {"name": "state-RDMA-device-plugin", "state": "ready"}]
    return {
        "kind": kind,
        "metadata": {"name": name},
        "spec": dict(spec),
        "status": {"state": state, "appliedStates": late},
    }


def offering(name: str) -> dict[str, Any]:
    config = {"configList": [{"resourceName": name, "rdmaHcaMax": 8}]}
    return {**SHARED, "rdmaSharedDevicePlugin": {**SECTION, "config": json.dumps(config)}}


def without(section: str) -> dict[str, Any]:
    return {key: value for key, value in SHARED.items() if key != section}


def node(of: Pool, *labels: str, name: str = "n0") -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {**of.node_selector, **dict.fromkeys(labels, "true")}}}


def lacking(
    of: Pool, policies: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]] | None = None, **more: Any
) -> list[tuple[str, str]]:
    found = [node(of, NIC, GPU)] if nodes is None else nodes
    return list(Judge(policies=policies, nodes=found, specs=nic_policy_specs([of]), **more).lacking())


TAINTED = pool(taints=("sku=gpu:NoSchedule",))


@pytest.mark.parametrize(
    ("of", "spec", "words", "remedy"),
    [
        (pool(), without("ofedDriver"), "no policy has ofedDriver for pool ndh100", '"ofedDriver": {'),
        (pool(nic_driver="inbox"), SHARED, "the driver of pool ndh100 is inbox", "driver: doca-ofed"),
        (pool(), without("rdmaSharedDevicePlugin"), "offers rdma/shared_ib to pods", '"rdmaSharedDevicePlugin": {'),
        (
            pool(),
            offering("hca"),
            "offers rdma/hca by its rdmaSharedDevicePlugin; pods of pool ndh100 request",
            "shared_ib",
        ),
        (
            pool(),
            {**SHARED, "rdmaSharedDevicePlugin": {**SECTION, "config": "{"}},
            "offers no resource that can be read",
            "shared_ib",
        ),
        (pool(mode="sriov"), SHARED, "hands out the HCAs of pool ndh100 a second time", "networkOperator.mode"),
        (TAINTED, SHARED, "does not tolerate the taint sku=gpu:NoSchedule", '{"spec": {"tolerations": [{"key": "sku"'),
    ],
)
def test_what_is_missing_is_named_with_the_object_to_apply(of: Pool, spec: Any, words: str, remedy: str) -> None:
    found = lacking(of, [policy(spec)])
    assert any(words in what and remedy in do for what, do in found), found


def test_the_command_adds_a_resource_and_keeps_what_is_offered_already() -> None:
    ((_, do),) = lacking(pool(), [policy(offering("hca"))])
    assert do.startswith("kubectl patch nicclusterpolicy nic-cluster-policy --type merge --patch ")
    patch = json.loads(do.partition("--patch ")[2].strip("'"))
    entries = json.loads(patch["spec"]["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert [entry["resourceName"] for entry in entries] == ["shared_ib", "hca"]


def test_without_policy_or_rule_the_whole_object_is_given() -> None:
    (rule, whole) = lacking(pool(), [], [node(pool())])
    assert "nodes of pool ndh100 lack the label feature.node.kubernetes.io/pci-15b3.present=true" in rule[0]
    assert json.loads(rule[1].split("'")[1])["kind"] == "NodeFeatureRule"
    assert "does not have a NicClusterPolicy" in whole[0]
    assert json.loads(whole[1].split("'")[1])["spec"] == SHARED


def test_the_label_of_gpus_is_asked_for_only_if_the_gpu_operator_is_ours() -> None:
    found = lacking(pool(), [policy()], [node(pool(), NIC)], finds_gpus=True)
    assert ["by which the GPU Operator knows them: n0" in what for what, _ in found] == [True]
    assert lacking(pool(), [policy()], [node(pool(), NIC)]) == []


@pytest.mark.parametrize(
    ("affinity", "suits"),
    [
        ({"matchExpressions": [{"key": NIC, "operator": "In", "values": ["true"]}]}, True),
        ({"matchExpressions": [{"key": NIC, "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "pool", "operator": "In", "values": ["other"]}]}, False),
        ({"matchExpressions": [{"key": NIC, "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": NIC, "operator": "NotIn", "values": ["true"]}]}, False),
    ],
)
def test_nodes_that_a_policy_leaves_out_are_named(affinity: Any, suits: bool) -> None:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [affinity]}}
    found = lacking(pool(), [policy({**SHARED, "nodeAffinity": required})])
    assert (not any("leaves out nodes of pool ndh100: n0" in what for what, _ in found)) is suits


def test_a_section_may_stand_in_a_node_policy_of_the_pool() -> None:
    own = {"nodeSelector": pool().node_selector, "rdmaSharedDevicePlugin": SECTION}
    others = {**own, "nodeSelector": {"pool": "other"}}
    rest = policy(without("rdmaSharedDevicePlugin"))
    assert lacking(pool(), [rest, policy(own, "NicNodePolicy")]) == []
    assert len(lacking(pool(), [rest, policy(others, "NicNodePolicy")])) == 1
    judge = Judge(policies=[rest, policy(others, "NicNodePolicy")], nodes=[], specs=nic_policy_specs([pool()]))
    assert judge.serving() == [rest]


def test_what_the_program_would_make_suits() -> None:
    for of in (pool(), pool(mode="sriov"), pool(mode="driver-only"), pool(nic_driver="inbox"), TAINTED):
        spec = nic_policy_specs([of]).cluster
        assert lacking(of, [policy(spec)], [node(of, NIC)]) == [], of


def waited(deploy: Deploy, monkeypatch: pytest.MonkeyPatch, *seen: list[Any], timeout: float = 5) -> Any:
    looks, last = iter(seen), seen[-1]
    monkeypatch.setattr(existing_network_operator, "policies_there", lambda _: (next(looks, last), [], []))
    args = ExistingNetworkOperatorArgs(policies=nic_policy_specs([pool()]), kubeconfig="k")
    vars(args).update(poll_seconds=0.001, timeout_seconds=timeout)  # sooner than a user may choose
    return deploy(lambda: ExistingNetworkOperator("nics", args=args).ready.apply(lambda ready: ready is not None))


def test_the_policies_are_waited_for(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    assert waited(deploy, monkeypatch, [], [policy(state="notReady")], [policy()]).result is True
    with pytest.raises(PolicyError, match=r"is notReady after 0 s.*state-OFED is notReady. Next: kubectl describe"):
        waited(deploy, monkeypatch, [policy(state="notReady")], timeout=0)
    with pytest.raises(PolicyError, match="does not have a NicClusterPolicy"):
        waited(deploy, monkeypatch, [], timeout=0)


def theirs(**more: Any) -> Any:
    return existing(written(nodeSelector={"pool": "a"}, gpuDirect="auto"), networkOperator={"existing": True, **more})


def test_nothing_of_the_network_operator_is_installed(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = load(theirs())
    labelled = [node(each, NIC, GPU) for each in stack.pools]
    seen: Any = ([policy(stack.policies.cluster)], labelled, [])
    monkeypatch.setattr(existing_network_operator, "policies_there", lambda _: seen)
    made = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack)).pools["ndh100"])
    (release,) = made.all(RELEASE)
    assert release.inputs["name"] == "gpu-operator"
    assert len(made.all(JOB)) == 1
    types = {found.type.rpartition(":")[2] for found in made.registrations}
    assert not types & {"NicClusterPolicy", "NicNodePolicy", "NodeFeatureRule", "NetworkOperator"}
    assert "ExistingNetworkOperator" in types


def test_where_the_policies_do_not_suit_nothing_is_made(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing_network_operator, "policies_there", lambda _: ([], [], []))
    stack = load(theirs())
    for preview in (True, False):
        with pytest.raises(
            pulumi.RunError, match=r"(?s)others have to act first.*not have a NicClusterPolicy.*kubectl apply"
        ):
            deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack)).pools, preview=preview)


@pytest.mark.parametrize(
    ("configuration", "key", "reason"),
    [
        (theirs(driverVersion="doca3.1"), "networkOperator.driverVersion", "does nothing with existing: true"),
        (theirs(values={"a": 1}), "networkOperator.values", "does nothing with existing: true"),
        (theirs(chart={"version": "26.4.1"}), "networkOperator.chart", "does nothing with existing: true"),
        (theirs(mode="ipoib"), "networkOperator.existing", "does not go with mode ipoib"),
        (changed(networkOperator={"existing": True}), "networkOperator.existing", "is for existingCluster"),
    ],
)
def test_what_would_say_nothing_is_refused(configuration: Any, key: str, reason: str) -> None:
    assert reason in mistakes(configuration)[key]
