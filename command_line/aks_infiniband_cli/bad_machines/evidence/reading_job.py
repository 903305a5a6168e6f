"""The Job that reads a machine: its pod runs once, on one node, and both are gone afterwards."""

import json
import secrets
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final, cast

from aks_infiniband.diagnosis.view import condition
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.validation_job import METADATA
from lightkube import Client
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.run import until

_HOST: Final = "/host"
_SECONDS: Final = 180
"""How long it may take, with the pull of its image. The Job's own controller ends it: a kubelet may be gone."""
_LEFT_SECONDS: Final = 600
"""Seconds after which the Job is deleted by itself, if this command was killed."""
_OVER: Final = ("Complete", "Failed")


def job_of(node: str, validation: Deployed, token: str) -> dict[str, Any]:
    """The Job, in the namespace of the pool's validation, with the image that waits for nodes there: it has Python.

    Its pod is privileged, and sees the machine's files without being able to change them: the kernel's log and
    nvidia-smi ask for that. It has the machine's network, because a cluster may keep instance metadata from pods. It
    has no token of the API server. It asks for no device, so it runs beside whatever the node runs.
    """
    spec = validation.template["spec"]
    (awaiting,) = spec["initContainers"]
    managed = {**labels("evidence", "read"), "app.kubernetes.io/managed-by": "aks-infiniband-evidence"}
    pod = {
        "nodeName": node,
        "hostNetwork": True,
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "tolerations": [{"operator": "Exists"}],
        **({"imagePullSecrets": spec["imagePullSecrets"]} if spec.get("imagePullSecrets") else {}),
        "volumes": [{"name": "machine", "hostPath": {"path": "/"}}],
        "containers": [_container(awaiting["image"])],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"evidence-{token}", "namespace": validation.namespace, "labels": managed},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": _SECONDS,
            "ttlSecondsAfterFinished": _LEFT_SECONDS,
            "template": {"metadata": {"labels": managed}, "spec": pod},
        },
    }


def _container(image: str) -> dict[str, Any]:
    program = resources.files(__package__).joinpath("on_node.py").read_text(encoding="utf-8")
    return {
        "name": "evidence",
        "image": image,
        "command": ["python3", "-c", program],
        "args": [_HOST, METADATA],
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [
            {"name": "machine", "mountPath": _HOST, "readOnly": True, "mountPropagation": "HostToContainer"}
        ],
    }


def ask(client: Client, node: str, validation: Deployed) -> Mapping[str, Any]:
    """What the machine says of itself. Raises CommandError where the pod has not said it, and NO_ANSWER."""
    document = job_of(node, validation, secrets.token_hex(4))
    name, namespace = document["metadata"]["name"], validation.namespace
    client.create(cast("Job", Job.from_dict(document)))
    try:
        ended = until(lambda: _over(client.get(Job, name, namespace=namespace).to_dict()))
        pods = list(client.list(Pod, namespace=namespace, labels={"batch.kubernetes.io/job-name": name}))
        said = "".join(line for pod in pods for line in _log(client, pod))
        try:
            found: Mapping[str, Any] = json.loads(said)
        except ValueError:
            why = condition(ended, "Failed").get("message") or "it has said nothing"
            raise CommandError(f"its pod has told nothing: {why}; {said.strip()[-200:]}".rstrip("; ")) from None
        return found
    finally:
        _remove(client, name, namespace)


def _over(job: Object) -> Object | None:
    return job if any(condition(job, kind).get("status") == "True" for kind in _OVER) else None


def _log(client: Client, pod: Pod) -> list[str]:
    assert pod.metadata
    return list(client.log(str(pod.metadata.name), namespace=str(pod.metadata.namespace)))


def _remove(client: Client, name: str, namespace: str) -> None:
    try:
        client.delete(Job, name, namespace=namespace, cascade=CascadeType.BACKGROUND)
    except NO_ANSWER as error:
        note(f"Job {name} could not be removed ({error}): kubectl --namespace {namespace} delete job {name}")
