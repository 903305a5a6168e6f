"""A GPU Operator that others keep: its ClusterPolicy is judged, waited for, and nothing is installed."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.operators import existing_gpu_operator
from aks_infiniband.operators.existing_gpu_operator import (
    ExistingGpuOperator,
    ExistingGpuOperatorArgs,
    followed,
    unsuitable,
)
from aks_infiniband.operators.existing_policy import PolicyError
from aks_infiniband.operators.gpu_operator import gpu_operator_values

from declared.pulumi_mocks import Deploy
from tests.some_pools import A100, pool
from tests.unit.components.rdma_programs import JOB, RELEASE
from tests.unit.components.stack_files import existing
from tests.unit.components.stack_files import pool as written

GPU = "nvidia.com/gpu"
SPEC: Mapping[str, Any] = {"driver": {"enabled": True, "rdma": {"enabled": True}}, "toolkit": {"enabled": True}}


def policy(spec: Mapping[str, Any] = SPEC, state: str = "ready", **metadata: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/version": "v26.3.3"}
    return {
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "labels": labels, **metadata},
        "spec": dict(spec),
        "status": {"state": state, "conditions": [{"type": "Error", "message": "operands not ready: driver"}]},
    }


def with_driver(**driver: Any) -> dict[str, Any]:
    return policy({**SPEC, "driver": {**SPEC["driver"], **driver}})


def machine(containerd: str = "2.1.6", gpus: str = "0") -> dict[str, Any]:
    return {
        "metadata": {"name": "n0", "labels": pool().node_selector},
        "status": {"nodeInfo": {"containerRuntimeVersion": f"containerd://{containerd}"}, "allocatable": {GPU: gpus}},
    }


@pytest.mark.parametrize("driver", ["operator", "aks"])
@pytest.mark.parametrize("more", [{}, {"gpu_direct": "dmabuf"}, {"nic_driver": "inbox"}])
def test_a_policy_of_the_values_that_this_program_installs_suits(driver: Any, more: Any) -> None:
    """The judge and the installation say the same."""
    pools = [pool(gpu_driver=driver, **more), pool(A100, "nda100", ("sku=gpu:NoSchedule",), gpu_driver=driver, **more)]
    assert list(unsuitable(policy(gpu_operator_values(pools)), pools, [machine()])) == []


def test_of_several_policies_the_one_that_is_not_ignored_counts() -> None:
    first = policy(creationTimestamp="2026-01-01T00:00:00Z", name="first")
    assert followed([policy(state="ignored"), first]) == first
    assert followed([]) is None


def waited(deploy: Deploy, monkeypatch: pytest.MonkeyPatch, *seen: list[Any], timeout: float = 5) -> Any:
    """The outcome of the component if the cluster shows these policies, look by look."""
    looks = iter(seen)
    last = seen[-1]
    monkeypatch.setattr(existing_gpu_operator, "policies_there", lambda _: (next(looks, last), []))
    monkeypatch.setattr(existing_gpu_operator, "nodes_of", lambda _: [])
    args = ExistingGpuOperatorArgs(pools=[pool()], kubeconfig="k")
    # Sooner than a user may choose: no cluster is read here.
    vars(args).update(poll_seconds=0.001, timeout_seconds=timeout)
    return deploy(lambda: ExistingGpuOperator("gpus", args=args).ready.apply(lambda ready: ready is not None))


def test_the_policy_is_waited_for(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    made = waited(deploy, monkeypatch, [], [policy(state="notReady")], [policy()])
    assert made.result is True
    assert [found.type for found in made.registrations] == ["aks-infiniband:index:ExistingGpuOperator"]


def test_a_policy_that_does_not_get_ready_fails_with_what_it_says(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PolicyError, match=r"is notReady after 0 s.*operands not ready: driver.*kubectl describe"):
        waited(deploy, monkeypatch, [policy(state="notReady")], timeout=0)
    with pytest.raises(PolicyError, match="does not have a ClusterPolicy"):
        waited(deploy, monkeypatch, [], timeout=0)


def theirs(**more: Any) -> Any:
    return existing(written(nodeSelector={"pool": "a"}, gpuDirect="auto"), gpuOperator={"existing": True, **more})


def test_nothing_of_the_gpu_operator_is_installed_and_pods_ask_for_its_gpus(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(existing_gpu_operator, "policies_there", lambda _: ([policy()], []))
    monkeypatch.setattr(existing_gpu_operator, "nodes_of", lambda _: [machine(gpus="8")])
    stack = load(theirs())
    made = deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack)).pod_templates["ndh100"])
    (release,) = made.all(RELEASE)
    assert release.inputs["name"] == "network-operator"
    assert release.inputs["values"]["nfd"] == {"enabled": False, "deployNodeFeatureRules": False}
    assert "node-feature-discovery" not in release.inputs["values"]
    limits = made.result["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == "8"
    assert len(made.all(JOB)) == 1
    assert not [found for found in made.registrations if found.type.endswith(":ClusterPolicy")]


def test_where_the_policy_does_not_suit_nothing_is_made_in_the_cluster(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(existing_gpu_operator, "policies_there", lambda _: ([with_driver(enabled=False)], []))
    monkeypatch.setattr(existing_gpu_operator, "nodes_of", lambda _: [])
    stack = load(theirs())
    for preview in (True, False):
        with pytest.raises(pulumi.RunError, match=r"(?s)others have to act first.*driver.enabled: false.*kubectl edit"):
            deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack)).pools, preview=preview)
