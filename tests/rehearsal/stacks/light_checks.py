"""A run of the scheduled check, begun by hand, and what it leaves on nodes."""

import json
from typing import Any

from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.payload.light_check.state import CONDITION, KEY
from aks_infiniband.validation.payload.talk.config_maps import texts_of
from lightkube import codecs
from lightkube.resources.batch_v1 import CronJob, Job
from lightkube.resources.core_v1 import ConfigMap, Event

from tests.rehearsal.waiting import eventually

from .conftest import Stack


def checked(stack: Stack, pool: str, run: str, *, wait_for_others: str = "60") -> dict[str, Any]:
    """Begin a run as `kubectl create job --from=cronjob/…` does; its report, when the Job is complete.

    wait_for_others: seconds for which the first pods wait for those of other idle nodes.
    """
    client, name = stack.cluster(), f"{pool}-light-check"
    template = client.get(CronJob, name, namespace=SYSTEM_NAMESPACE).to_dict()["spec"]["jobTemplate"]
    arguments = template["spec"]["template"]["spec"]["containers"][0]["args"]
    arguments[arguments.index("--timeout-seconds") + 1] = wait_for_others
    metadata = {"name": f"{name}-{run}", "namespace": SYSTEM_NAMESPACE}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]}
    client.apply(codecs.from_dict(job), field_manager="test")
    eventually(lambda: "Complete" in _conditions(stack, f"{name}-{run}"))
    found = client.get(ConfigMap, name, namespace=SYSTEM_NAMESPACE).to_dict()
    report: dict[str, Any] = json.loads(texts_of(found)[KEY])
    return report


def watched(stack: Stack) -> dict[str, str]:
    """The notes of the watch, which runs as its Deployment has it; empty before its first look."""
    return texts_of(stack.cluster().get(ConfigMap, "light-check-watch", namespace=SYSTEM_NAMESPACE).to_dict())


def _conditions(stack: Stack, job: str) -> list[str]:
    status = stack.cluster().get(Job, job, namespace=SYSTEM_NAMESPACE).to_dict().get("status", {})
    found = [condition["type"] for condition in status.get("conditions", []) if condition["status"] == "True"]
    assert "Failed" not in found, status
    return found


def condition(stack: Stack, node: str) -> tuple[str, str, str]:
    """Status, reason and message of the check's condition on a node."""
    (found,) = [machine for machine in stack.nodes() if machine["metadata"]["name"] == node]
    (said,) = [said for said in found["status"]["conditions"] if said["type"] == CONDITION]
    return said["status"], said["reason"], said["message"]


def events(stack: Stack, node: str) -> list[tuple[str, str]]:
    """Type and reason of the check's Events of a node, in their order."""
    every = [event.to_dict() for event in stack.cluster().list(Event, namespace="default")]
    ours = [event for event in every if event.get("source", {}).get("component") == "aks-infiniband-light-check"]
    return [(event["type"], event["reason"]) for event in ours if event["involvedObject"]["name"] == node]
