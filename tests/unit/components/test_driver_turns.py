"""Two operators upgrade two drivers of the same nodes: one upgrade after the other, and a measurement after both."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pulumi
import pytest
from aks_infiniband.diagnosis import collect
from aks_infiniband.facts.driver_upgrades import GPU, NIC
from aks_infiniband.operators.driver_turns import DriverTurns, DriverUpgradeError, in_words, under_way
from aks_infiniband.stack import rdma_software

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import JOB, POLICY, RELEASE, program


def node(name: str, **labels: str) -> dict[str, Any]:
    """nic, gpu: states of the upgrades; nic_held, gpu_held: whether it is passed over."""
    named = {
        **{f"{driver}-state": labels[key] for key, driver in (("nic", NIC), ("gpu", GPU)) if key in labels},
        **{f"{driver}.skip": "true" for key, driver in (("nic_held", NIC), ("gpu_held", GPU)) if key in labels},
    }
    return {"metadata": {"name": name, "labels": {**named, "agentpool": "nd"}}}


def test_nodes_are_named_whose_driver_is_or_will_be_changed_those_in_work_first() -> None:
    nodes = [
        node("a", nic="upgrade-required"),
        node("b", nic="drain-required", gpu="upgrade-done"),
        node("c", nic="upgrade-done"),
        node("d"),
    ]
    found = under_way(nodes)
    assert found == {"b": "NIC driver: drain-required", "a": "NIC driver: upgrade-required"}
    assert in_words(found) == ("2 nodes to go: b (NIC driver: drain-required), a (NIC driver: upgrade-required)")
    assert under_way(nodes, (GPU,)) == {}


def test_a_node_that_is_held_back_and_those_behind_a_failed_one_wait_for_nothing() -> None:
    assert under_way([node("a", gpu="upgrade-required", gpu_held="true")]) == {}
    assert under_way([node("a", gpu="upgrade-failed"), node("b", gpu="upgrade-required")]) == {}


class Cluster:
    """Nodes as one look after the other finds them; the last one lasts."""

    def __init__(self, *looks: Sequence[dict[str, Any]]) -> None:
        self.looks = list(looks)
        self.asked = 0

    def nodes(self, kubeconfig: str, *, limit_seconds: float) -> tuple[list[Any], list[str]]:
        del kubeconfig, limit_seconds
        self.asked += 1
        return list(self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]), []


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Callable[..., None], Cluster, list[str]]]:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", said.append)
    monkeypatch.setattr(pulumi.log, "warn", said.append)

    def made(*looks: Sequence[dict[str, Any]], **seconds: float) -> tuple[Callable[..., None], Cluster, list[str]]:
        cluster = Cluster(*looks)
        monkeypatch.setattr(collect, "nodes", cluster.nodes)

        async def wait(when: str, drivers: Sequence[str], changed: bool) -> None:
            found = DriverTurns("rdma", kubeconfig="one", poll_seconds=0.01, **{"stable_seconds": 0, **seconds})
            await asyncio.sleep(0.05)  # until the kubeconfig is known
            found._changed = changed
            await found._wait(when, {}, drivers)

        def waited(when: str, *drivers: str, changed: bool = False) -> None:
            asyncio.run(wait(when, drivers, changed))

        return waited, cluster, said

    return made


def test_a_change_waits_until_the_others_upgrade_has_ended_and_says_where_it_is(turns: Any) -> None:
    wait, cluster, said = turns(
        [node("a", gpu="drain-required"), node("b", gpu="upgrade-required")],
        [node("a", gpu="upgrade-done"), node("b", gpu="pod-restart-required")],
        [node("a", gpu="upgrade-done"), node("b", gpu="upgrade-done")],
    )
    wait("before the NIC driver changes", GPU)
    assert cluster.asked == 3
    assert [text.partition("; ")[2] for text in said] == [
        "2 nodes to go: a (GPU driver: drain-required), b (GPU driver: upgrade-required)",
        "1 node to go: b (GPU driver: pod-restart-required)",
    ]


def test_on_a_cluster_without_an_upgrade_nothing_waits(turns: Any) -> None:
    wait, cluster, said = turns([node("a"), node("b", nic="upgrade-done")], stable_seconds=3600)
    wait("before pool nd is measured", NIC, GPU)
    assert (cluster.asked, said) == (1, [])


def test_after_a_change_of_ours_an_upgrade_has_time_to_begin(turns: Any) -> None:
    wait, cluster, _ = turns([node("a")], [node("a", gpu="cordon-required")], [node("a")], stable_seconds=0.05)
    wait("before pool nd is measured", NIC, GPU, changed=True)
    assert cluster.asked > 3


def test_a_wait_lasts_as_long_as_something_moves_and_ends_with_the_node_that_does_not(turns: Any) -> None:
    states = ("cordon-required", "wait-for-jobs-required", "drain-required", "pod-restart-required") * 3
    wait, cluster, _ = turns(*([node("a", nic=state)] for state in states), timeout_seconds=0.5)
    with pytest.raises(DriverUpgradeError, match=r"no driver's upgrade has moved for 0.5 s; 1 node to go: a \(NIC"):
        wait("before the GPU Operator changes", NIC)
    assert cluster.asked > len(states)


def test_nodes_that_cannot_be_read_end_no_update(turns: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    wait, _, said = turns([])
    monkeypatch.setattr(collect, "nodes", lambda *_, **__: ([], ["connection refused"]))
    wait("before pool nd is measured", NIC, GPU)
    assert said == [
        "before pool nd is measured: whether a driver is being upgraded could not be read (connection refused); "
        "continuing"
    ]


def test_the_nic_policy_changes_after_the_gpu_operators_release_and_waits_for_nothing_else_of_it(
    deploy: Deploy,
) -> None:
    deployment = deploy(program())
    (release,) = [release for release in deployment.all(RELEASE) if release.name == "rdma-gpu-operator"]
    policy = deployment.one(POLICY)
    assert release.urn in policy.request["dependencies"]
    gpus = deployment.one("kubernetes:nvidia.com/v1:ClusterPolicyPatch")
    assert gpus.urn not in policy.request["dependencies"], "on new nodes its drivers wait for the NIC driver"
    assert policy.request["hooks"]["beforeUpdate"] == ["rdma-before-nic-driver"]
    assert release.request["hooks"]["beforeUpdate"] == ["rdma-before-gpu-driver"]
    looks = "aks-infiniband-there-already-rdma"
    assert policy.request["hooks"]["beforeCreate"] == [looks]
    assert deployment.one(JOB).request["hooks"]["beforeCreate"] == [looks, "rdma-before-measuring-ndh100"]


def test_a_change_of_the_nic_policy_has_time_for_one_node_after_the_other(deploy: Deploy) -> None:
    policy = deploy(program(readiness={"timeoutSeconds": 600})).one(POLICY)
    assert policy.request["customTimeouts"] == {"update": "1200s"}
    assert policy.inputs["metadata"]["annotations"]["pulumi.com/timeoutSeconds"] == "600", "at first they go together"


def test_the_waits_of_a_stack_file_are_those_of_the_turns(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = {"poll_seconds": 1, "stable_seconds": 2, "timeout_seconds": 600}
    made: list[dict[str, float]] = []

    def turns(*_: object, kubeconfig: object, **seconds: float) -> DriverTurns:
        made.append(seconds)
        return DriverTurns("rdma", kubeconfig="one", **seconds)

    monkeypatch.setattr(rdma_software, "DriverTurns", turns)
    deploy(program(readiness={"pollSeconds": 1, "stableSeconds": 2, "timeoutSeconds": 600}))
    assert made == [waits]
