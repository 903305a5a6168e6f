"""Changes of a cluster that is up, each previewed and then done as previewed. The tests follow one another.

Nothing is validated: that a change is followed by a validation is tested with the stack `dev`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Final, get_args

import pytest
from aks_infiniband.facts.catalog.machine import Mode
from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome, run
from tests.rehearsal.shell import shell
from tests.rehearsal.waiting import eventually

from .by_hand import change_pool
from .conftest import Stack
from .test_dra import published
from .test_mixed import NicClusterPolicy

pytestmark = pytest.mark.long
STACK = "dev"
HB: Final = {"name": "hb", "vmSize": "Standard_HB120rs_v3", "count": 1, "mode": "rdma-shared"}
WEB: Final = {"name": "web", "vmSize": "Standard_D8s_v5", "count": 1, "infiniband": False}
CLAIMED: Final = "devices to claim"
OFFERS: Final[Mapping[str, dict[str, str]]] = {
    "rdma-shared": {"rdma/shared_ib": "63"},
    "sriov": {"rdma/ib": "1"},
    "ipoib": {"rdma/shared_ib": "63"},
    "driver-only": {},
    "dra": {CLAIMED: "1"},
}
"""The offers of a machine with one HCA in each mode."""
INBOX: Final = {"nicDriver": "inbox"}
"""The first requirement of mode dra for the pool: docs/dra.md."""
PATCH: Final = """
kubectl patch nicclusterpolicies.mellanox.com nic-cluster-policy --type merge \
  --patch '{"spec": {"rdmaSharedDevicePlugin": {"version": "by-hand"}}}'
"""


def every_change(modes: tuple[str, ...]) -> Iterator[str]:
    """Modes one after another, from the first back to it: each comes once right after each other."""
    first, *others = modes
    for place, mode in enumerate(others):
        yield mode
        for later in others[place + 1 :]:
            yield from (later, mode)
        yield first


MODES: Final[tuple[str, ...]] = get_args(Mode)
CHANGES: Final = list(pairwise((MODES[0], *every_change(MODES))))


@pytest.fixture(scope="module")
def brought_up(stack: Stack) -> Outcome:
    """A pool of one machine, up from nothing."""
    stack.settings(pools=[HB], validation={"mode": "off"})
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    return outcome


def offered(stack: Stack) -> list[dict[str, str]]:
    """The offers of RDMA of each machine of the pool; a device plugin that is gone leaves a zero."""
    devices, found = published(stack), []
    for node in stack.nodes(agentpool="hb"):
        claimed = devices.get(node["metadata"]["name"])
        resources = node["status"]["allocatable"].items()
        offers = {key: value for key, value in resources if key.startswith("rdma/") and value != "0"}
        found.append({**offers, **({CLAIMED: str(len(claimed))} if claimed else {})})
    return found


def kinds(outcome: Outcome) -> dict[str, str]:
    """The operation on each resource of a provider."""
    made = [step for step in outcome.steps if step.changed and step.custom]
    return {f"{step.type.rsplit(':', 1)[-1]} {step.name}": step.operation for step in made}


def test_every_mode_follows_every_other_once() -> None:
    assert sorted(CHANGES) == sorted(permutations(MODES, 2))


@pytest.mark.parametrize("count", [3, 1])
def test_a_pool_is_scaled_up_and_down_in_place(stack: Stack, brought_up: Outcome, count: int) -> None:
    scaled = stack.change(pools=[{**HB, "count": count}])
    assert kinds(scaled) == {"AgentPool rdma-hb": "update"}
    eventually(lambda: offered(stack) == [OFFERS["rdma-shared"]] * count)


def test_a_pool_is_added_and_removed_and_the_other_stays_as_it_is(stack: Stack, brought_up: Outcome) -> None:
    before = {node["metadata"]["uid"] for node in stack.nodes(agentpool="hb")}
    assert kinds(stack.change(pools=[HB, WEB])) == {"AgentPool rdma-web": "create"}
    assert len(stack.nodes(agentpool="web")) == 1
    assert kinds(stack.change(pools=[HB])) == {"AgentPool rdma-web": "delete"}
    assert stack.nodes(agentpool="web") == []
    assert {node["metadata"]["uid"] for node in stack.nodes(agentpool="hb")} == before


@pytest.mark.parametrize(("before", "mode"), CHANGES)
def test_each_mode_becomes_each_other_on_the_machines_that_are_there(
    stack: Stack, brought_up: Outcome, before: str, mode: str
) -> None:
    machines = {node["metadata"]["uid"] for node in stack.nodes(agentpool="hb")}
    assert offered(stack) == [OFFERS[before]]
    wanted = INBOX if mode == "dra" else {}
    if wanted:
        stack.change(pools=[{**HB, "mode": before, **wanted}])
    changed = stack.change(pools=[{**HB, "mode": mode, **wanted}])
    assert not [step.name for step in changed.steps if step.changed and step.type.endswith((":AgentPool", ":Release"))]
    eventually(lambda: offered(stack) == [OFFERS[mode]])
    assert {node["metadata"]["uid"] for node in stack.nodes(agentpool="hb")} == machines


def test_another_driver_reaches_the_machines_in_place(stack: Stack, brought_up: Outcome) -> None:
    version = "doca3.5.0-26.07-0.1.0.0-0"
    changed = stack.change(networkOperator={"driverVersion": version})
    assert kinds(changed) == {"NicClusterPolicy rdma-nic-cluster-policy": "update"}

    def images() -> set[str]:
        pods = stack.cluster().list(Pod, namespace="network-operator", labels={"nvidia.com/ofed-driver": ""})
        return {pod.to_dict()["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in pods}

    # Without a validation nothing waits until the machines have it.
    eventually(lambda: [image.startswith(version) for image in images()] == [True])


def test_a_newer_kubernetes_reaches_cluster_and_machines_in_place(stack: Stack, brought_up: Outcome) -> None:
    newer = {"kubernetesVersion": "1.36", "supportPlan": "AKSLongTermSupport"}
    changed = stack.change(cluster=newer)
    assert kinds(changed) == {"ManagedCluster rdma": "update", "AgentPool rdma-hb": "update"}
    versions = {node["status"]["nodeInfo"]["kubeletVersion"] for node in stack.nodes(agentpool="hb")}
    assert {version.split(".")[1] for version in versions} == {"36"}
    left = {
        node["status"]["nodeInfo"]["kubeletVersion"] for node in stack.nodes(**{"kubernetes.azure.com__mode": "system"})
    }
    assert {version.split(".")[1] for version in left} == {"35"}, "`aks-infiniband upgrade` raises it"
    eventually(lambda: offered(stack) == [OFFERS["rdma-shared"]])


def test_what_somebody_scaled_or_deleted_is_found_by_refresh_and_repaired_by_up(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    change_pool(stack.rehearsal.run, "hb", count=2)
    shell(stack.rehearsal, "kubectl delete validatingadmissionpolicybinding aks-infiniband-workloads", folder=tmp_path)
    found = stack.run("refresh")
    assert found.succeeded, found.said
    repaired = stack.change()
    assert kinds(repaired) == {
        "AgentPool rdma-hb": "update",
        "ValidatingAdmissionPolicyBinding rdma-workload": "create",
    }
    assert len(stack.nodes(agentpool="hb")) == 1
    assert stack.preview().changed == {}


def test_a_field_that_somebody_changed_is_named_with_the_command_that_takes_it_back(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    shell(stack.rehearsal, PATCH, folder=tmp_path)
    assert stack.run("refresh").succeeded
    refused = stack.preview()
    assert not refused.succeeded
    assert (
        'conflict with "kubectl-patch" using mellanox.com/v1alpha1: .spec.rdmaSharedDevicePlugin.version'
        in refused.said
    )
    assert "PULUMI_K8S_ENABLE_PATCH_FORCE=true pulumi up takes them back" in refused.said
    engine = stack.rehearsal.engine()
    forcing = replace(engine, environment={**engine.environment, "PULUMI_K8S_ENABLE_PATCH_FORCE": "true"})
    planned, forced = run(forcing, "preview"), run(forcing, "up")
    assert forced.succeeded, forced.said
    assert forced.plan == planned.plan
    assert kinds(forced) == {"NicClusterPolicy rdma-nic-cluster-policy": "update"}
    (policy,) = stack.cluster().list(NicClusterPolicy)
    assert dict(policy)["spec"]["rdmaSharedDevicePlugin"]["version"] != "by-hand"
    assert stack.preview().changed == {}
