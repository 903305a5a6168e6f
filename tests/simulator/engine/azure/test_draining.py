"""A machine is drained before it goes, on a real API server: evictions respect a disruption budget."""

from pathlib import Path
from typing import Any

from lightkube import Client, KubeConfig, codecs
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import Node, Pod

from rehearsal.azure.clock import Clock
from rehearsal.azure.cluster_api import ClusterApi
from rehearsal.azure.machines import node, node_name
from rehearsal.control_plane import WITH_KWOK, ControlPlane, RunFolder
from tests.rehearsal.simulated_nodes import pool_facts
from tests.rehearsal.waiting import eventually

SPEED = 100.0
LABELS = {"app": "web"}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "web", "image": "example.com/web:1"}], "terminationGracePeriodSeconds": 1},
        },
    },
}
BUDGET: dict[str, Any] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}},
}


def ready_pods(client: Client) -> list[Pod]:
    pods = client.list(Pod, namespace="default", labels={"app": "web"})
    return [
        pod
        for pod in pods
        if pod.status
        and pod.metadata
        and not pod.metadata.deletionTimestamp
        and any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions or [])
    ]


def wait_for_pods(client: Client, count: int) -> list[Pod]:
    pods: list[Pod] = eventually(lambda: found if len(found := ready_pods(client)) >= count else [])
    return pods


def replicas(client: Client) -> int | None:
    """The number of ready pods of the Deployment by its own count."""
    status = client.get(Deployment, "web", namespace="default").status
    return status.readyReplicas if status else None


def test_pods_move_to_the_machine_that_stays(tmp_path: Path) -> None:
    run = RunFolder.at(tmp_path / "run")
    with ControlPlane.start(run.root, speed=SPEED, parts=WITH_KWOK):
        clock = Clock(SPEED)
        api = ClusterApi(own=run.part_kubeconfig("azure"), handed_out=run.kubeconfig, clock=clock)
        client = Client(config=KubeConfig.from_file(str(run.kubeconfig)), trust_env=False)
        facts = pool_facts("hb", "Standard_HB120rs_v3")
        leaving, staying = node_name(facts, 0), node_name(facts, 1)
        api.join(node(facts, 0, 0))
        api.join(node(facts, 0, 0))  # twice is once
        client.create(codecs.from_dict(DEPLOYMENT))
        client.create(codecs.from_dict(BUDGET))
        assert {pod.spec.nodeName for pod in wait_for_pods(client, 3) if pod.spec} == {leaving}
        api.join(node(facts, 1, 1))

        api.leave([leaving, "never-was-there"], pause=0.1)

        assert [item.metadata.name for item in client.list(Node) if item.metadata] == [staying]
        assert {pod.spec.nodeName for pod in wait_for_pods(client, 3) if pod.spec} == {staying}
        eventually(lambda: replicas(client) == 3)  # its controller counts a moment after the pods are ready
