from typing import Any

import pytest
import yaml

from rehearsal.machines.pods.behaviours import behaviours
from rehearsal.machines.stages import render


def stages(speed: float = 1, *, pods: bool = True) -> dict[str, dict[str, Any]]:
    return {document["metadata"]["name"]: document for document in yaml.safe_load_all(render(speed, pods=pods))}


def keys(stage: dict[str, Any]) -> list[str]:
    return [expression["key"] for expression in stage["spec"]["selector"]["matchExpressions"]]


def test_every_document_is_a_stage_of_kwoks_api() -> None:
    assert {(stage["apiVersion"], stage["kind"]) for stage in stages().values()} == {
        ("kwok.x-k8s.io/v1alpha1", "Stage")
    }


@pytest.mark.parametrize("name", ["pod-ready", "pod-delete"])
def test_pods_that_the_machines_drive_are_left_alone(name: str) -> None:
    excluded = keys(stages()[name])
    assert sum("ownerReferences" in key for key in excluded) == 1
    for behaviour in behaviours().values():
        assert any(all(f'"{label}"' in key for label in behaviour.labels) for key in excluded)


def test_containers_start_faster_at_a_higher_speed() -> None:
    delays = [stages(speed)["pod-ready"]["spec"]["delay"]["durationMilliseconds"] for speed in (1, 10)]
    assert delays == [2000, 200]


def test_pods_are_the_machines_process_where_it_runs() -> None:
    assert {stage["spec"]["resourceRef"]["kind"] for stage in stages(pods=False).values()} == {"Node"}


@pytest.mark.parametrize("name", ["node-initialise", "node-heartbeat"])
def test_what_azure_says_of_a_node_stays(name: str) -> None:
    template = stages()[name]["spec"]["next"]["statusTemplate"]
    assert not any(word in template for word in ("allocatable", "capacity", "nodeInfo"))
