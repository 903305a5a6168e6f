"""A Network Operator that others keep: its policies are judged, waited for, and nothing is installed."""

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
from tests.unit.components.stack_files import existing
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
