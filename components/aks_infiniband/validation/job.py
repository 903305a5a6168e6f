"""What the validation's Job is made of: names, limits, volumes, and the container that awaits all nodes first.

A Job's template is immutable, so the Job's name ends in a hash of everything it depends on.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.expectations import promised_labels
from aks_infiniband.validation.options import Waits
from aks_infiniband.validation.payload.pod import EXIT_RETRY
from aks_infiniband.workload.pods import config_map_name, config_maps

PACKAGE: Final = "payload"
"""Name under which the payload is imported inside the pods."""
HOME: Final = f"/opt/aks-infiniband/{PACKAGE}"
"""Where the payload's ConfigMap is mounted: its keys are the modules of a package, which is named after the folder."""
LIMITS: Final = "/var/lib/aks-infiniband/limits.json"
"""File in which the init container leaves its limits, for the container."""
PODINFO: Final = "/etc/podinfo"
"""Folder in which a pod finds its own annotations as files."""

_NOBODY: Final = 65534
_TERMINATION_LOG: Final = "/dev/termination-log"
_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_MARGIN_SECONDS: Final = 60
"""How much later than the provider the Job itself gives up: its deadline deletes the pods, and the diagnosis of
a failed wait is to see them first. The provider's time-out starts again with everything that happens to the pods, the
deadline does not; where it comes first, what the scheduler said of the pods is left (diagnosis/pods.py)."""


def validation_name(pool: Pool) -> str:
    """Stem of the Job's name; it has a hash behind it."""
    return f"{pool.name}-validate"


def report_name(pool: Pool) -> str:
    """Name of the ConfigMap in which a pool's pods meet, and which holds their report."""
    return f"{pool.name}-validation-report"


def pool_labels(pool: Pool, component: str) -> dict[str, str]:
    """Labels of everything that belongs to one part of a pool's validation."""
    return {**labels("validation", component), "app.kubernetes.io/instance": pool.name}


def digest(*parts: object) -> str:
    """Eight hexadecimal digits that change when any of the JSON-able parts does."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


def named_job(pool: Pool, spec: Mapping[str, Any], *depends_on: object) -> dict[str, Any]:
    """Metadata (without namespace) and spec of the Job; its name ends in a hash of the spec and of what else counts.

    A Job that has failed is replaced by the next update instead of being waited for again.
    """
    wait_seconds = spec["activeDeadlineSeconds"] - _MARGIN_SECONDS
    return {
        "metadata": {
            "name": f"{validation_name(pool)}-{digest(spec, *depends_on)}",
            "labels": pool_labels(pool, "validate"),
            "annotations": {
                "pulumi.com/timeoutSeconds": str(wait_seconds),
                "pulumi.com/replaceUnready": "true",
            },
        },
        "spec": dict(spec),
    }


def job_limits(seconds: float) -> dict[str, Any]:
    """How long the Job is waited for, in seconds, and which failures end it at once.

    The first failure that counts ends the Job: a verdict is not asked for twice. What does not count is a pod that
    could not do its work, or was evicted. (The other way round, a backoff limit and the action FailJob for a verdict,
    ends the Job with the reason PodFailurePolicy, which the Kubernetes provider 4.27.0 does not take for a failure: it
    waits on.)
    """
    retried = {"operator": "In", "values": [EXIT_RETRY]}  # of either container
    return {
        "activeDeadlineSeconds": math.ceil(seconds) + _MARGIN_SECONDS,
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onExitCodes": retried},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
    }


def payload_files() -> dict[str, str]:
    """File name to text of every module of the payload, and of its program for GPUs, as they go into a ConfigMap."""
    folder = resources.files("aks_infiniband.validation").joinpath(PACKAGE)
    files = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith((".py", ".ptx"))}
    return {name: entry.read_text(encoding="utf-8") for name, entry in sorted(files.items())}


def container(name: str, image: str) -> dict[str, Any]:
    """The fields of a container that runs the payload's module of that name."""
    return {
        "name": name,
        "image": image,
        "command": ["python3", "-m", f"{PACKAGE}.{name.replace('-', '_')}"],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "terminationMessagePath": _TERMINATION_LOG,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def python_environment() -> list[dict[str, Any]]:
    """Environment in which Python finds the payload."""
    return [
        {"name": "PYTHONPATH", "value": f"{HOME}/.."},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        {"name": "PYTHONUNBUFFERED", "value": "1"},
    ]


def pod_environment(pool: Pool, *more: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Environment of a pod that measures: the pool's workload settings, where the payload is, and who the pod is."""
    settings = config_maps(pool)[config_map_name(pool.name)]
    return [
        *({"name": name, "value": value} for name, value in settings.items()),
        *map(dict, more),
        *python_environment(),
        _from_field("NODE_NAME", "spec.nodeName"),
        _from_field("POD_UID", "metadata.uid"),
        _from_field("POD_IP", "status.podIP"),
        _from_field("JOB_UID", "metadata.labels['batch.kubernetes.io/controller-uid']"),
    ]


def node_selector_text(pool: Pool) -> str:
    """The pool's nodes as a label selector of the API."""
    return ",".join(f"{key}={value}" for key, value in sorted(pool.node_selector.items()))


def _from_field(name: str, path: str) -> dict[str, Any]:
    """An environment variable that the downward API fills."""
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def api_arguments() -> list[str]:
    """Where the kubelet leaves the service account's credentials and looks for the termination message."""
    return [
        *("--termination-log", _TERMINATION_LOG),
        *("--token", f"{_ACCOUNT}/token"),
        *("--ca", f"{_ACCOUNT}/ca.crt"),
    ]


def payload_mount() -> dict[str, Any]:
    """Mount of the payload's volume."""
    return {"name": "payload", "mountPath": HOME, "readOnly": True}


def shared_volume() -> dict[str, Any]:
    """Volume in which the init container leaves what the container reads."""
    return {"name": "shared", "emptyDir": {"sizeLimit": "1Mi"}}


def shared_mount() -> dict[str, Any]:
    """Mount of the shared volume."""
    return {"name": "shared", "mountPath": str(PurePosixPath(LIMITS).parent)}


def payload_volume(access: str) -> dict[str, Any]:
    """Volume with the payload, which lies in the ConfigMap of a ValidationAccess."""
    return {"name": "payload", "configMap": {"name": access}}


def annotation_volume(name: str, files: Mapping[str, str]) -> dict[str, Any]:
    """Volume with annotations of the pod.

    files: file name to the annotation's key.
    """
    items = [
        {"path": path, "fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{key}']"}}
        for path, key in files.items()
    ]
    return {"name": name, "downwardAPI": {"items": items}}


def await_nodes_container(pool: Pool, *, waits: Waits, image: str) -> dict[str, Any]:
    """Container that ends well once every node of the pool is Ready and has offered what the pool promises for a while.

    The operators report ready before every node offers its resources, so no pod looks at its own node before all nodes
    have offered them for a while. It holds no device: a pod's effective request is the larger of its init containers'
    and its containers'.
    """
    promised = [f"--resource={name}={least}" for name, least in sorted(pool.promised_resources.items())]
    return {
        **container("await-nodes", image),
        "args": [
            *("--pool", pool.name),
            *("--selector", node_selector_text(pool)),
            *("--nodes", str(pool.node_count)),
            *promised,
            *(f"--label={name}={value}" for name, value in sorted(promised_labels(pool).items())),
            *("--poll-seconds", f"{waits.poll_seconds:g}"),
            *("--stable-seconds", f"{waits.stable_seconds:g}"),
            *("--timeout-seconds", f"{waits.timeout_seconds:g}"),
            *("--proc", "/proc", "--limits", LIMITS),
            *api_arguments(),
        ],
        "env": python_environment(),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [payload_mount(), shared_mount()],
    }
