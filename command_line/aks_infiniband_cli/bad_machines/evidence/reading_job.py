"""The Job that reads a machine."""

import json
import secrets
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.validation_job import METADATA
from lightkube import Client

from aks_infiniband_cli.bad_machines.evidence.node_job import job_on, run
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed

_HOST: Final = "/host"
_SECONDS: Final = 180


def job_of(node: str, validation: Deployed, token: str) -> dict[str, Any]:
    """The Job, with the image that waits for nodes in the pool's validation: it has Python.

    Its pod is privileged, and sees the machine's files without being able to change them: the kernel's log and
    nvidia-smi ask for that. It has the machine's network, because a cluster may keep instance metadata from pods. It
    asks for no device, so it runs beside whatever the node runs.
    """
    (awaiting,) = validation.template["spec"]["initContainers"]
    return job_on(
        node,
        validation,
        name=f"evidence-{token}",
        labels={**labels("evidence", "read"), "app.kubernetes.io/managed-by": "aks-infiniband-evidence"},
        pod={
            "hostNetwork": True,
            "terminationGracePeriodSeconds": 1,
            "volumes": [{"name": "machine", "hostPath": {"path": "/"}}],
            "containers": [_container(awaiting["image"])],
        },
        seconds=_SECONDS,
    )


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
    ended = run(client, job_of(node, validation, secrets.token_hex(4)))
    try:
        found: Mapping[str, Any] = json.loads(ended.said)
    except ValueError:
        told = f"its pod has told nothing: {ended.why or 'it has said nothing'}; {ended.said.strip()[-200:]}"
        raise CommandError(told.rstrip("; ")) from None
    return found
