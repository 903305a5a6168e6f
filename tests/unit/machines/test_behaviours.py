from typing import Any

import pytest

from rehearsal.latency import Latencies
from rehearsal.machines.behaviours import Behaviour, behaviour_of, behaviours, is_job_pod, needs_ofed
from rehearsal.machines.hardware import hardware_of

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")


def pod(
    labels: dict[str, str] | None = None,
    containers: list[dict[str, Any]] | None = None,
    owners: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {"metadata": {"labels": labels, "ownerReferences": owners}, "spec": {"containers": containers or []}}


@pytest.mark.parametrize("behaviour", behaviours().values(), ids=behaviours())
def test_every_latency_of_the_table_is_known(behaviour: Behaviour) -> None:
    steps = [behaviour.latency, *(one.latency for one in behaviour.init_containers.values())]
    if behaviour.effect_latency:
        steps.append(behaviour.effect_latency)
    assert all(Latencies(speed=1).seconds(step) >= 0 for step in steps)


def test_every_condition_is_provided_by_some_row() -> None:
    provided = {row.provides for row in behaviours().values()} | {"ofedForPeermem"}
    waited_for = {row.waits_for for row in behaviours().values()} - {None}
    waited_for |= {one.waits_for for row in behaviours().values() for one in row.init_containers.values()} - {None}
    assert waited_for <= provided


@pytest.mark.parametrize(
    ("labels", "provides"),
    [
        ({"nvidia.com/ofed-driver": "", "app": "mofed-ubuntu24.04"}, "ofed"),
        ({"app": "rdma-shared-dp", "ds-owner": "NicClusterPolicy"}, "sharedRdmaDevices"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}, "nodeFeatures"),
        ({"app.kubernetes.io/name": "node-feature-discovery", "role": "master"}, "featureMaster"),
    ],
)
def test_pods_are_known_by_their_labels(labels: dict[str, str], provides: str) -> None:
    behaviour = behaviour_of(pod(labels))
    assert behaviour is not None
    assert behaviour.provides == provides


@pytest.mark.parametrize(
    "labels", [None, {}, {"app": "cni-plugins"}, {"app.kubernetes.io/name": "node-feature-discovery", "role": "gc"}]
)
def test_other_pods_do_nothing_to_their_machine(labels: dict[str, str] | None) -> None:
    assert behaviour_of(pod(labels)) is None


def test_pods_of_jobs_are_those_that_a_job_controls() -> None:
    assert is_job_pod(pod(owners=[{"apiVersion": "batch/v1", "kind": "Job"}]))
    assert not is_job_pod(pod(owners=[{"apiVersion": "apps/v1", "kind": "ReplicaSet"}]))
    assert not is_job_pod(pod(owners=[{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}]))


def test_the_gpu_driver_waits_for_ofed_only_with_peermem_on_infiniband() -> None:
    driver, peermem = {"name": "nvidia-driver-ctr"}, {"name": "nvidia-peermem-ctr"}
    host = {"name": "nvidia-peermem-ctr", "env": [{"name": "USE_HOST_MOFED", "value": "true"}]}
    system = hardware_of(size="Standard_NC24ads_A100_v4", machine="node-1", fabric="none")
    assert needs_ofed(pod(containers=[driver, peermem]), H100)
    assert not needs_ofed(pod(containers=[driver]), H100)
    assert not needs_ofed(pod(containers=[driver, host]), H100)
    assert not needs_ofed(pod(containers=[driver, peermem]), system)
