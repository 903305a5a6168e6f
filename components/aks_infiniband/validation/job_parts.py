"""The parts of the validation's Job: names, limits, volumes, and the container that awaits all nodes first.

A Job's template is immutable, so the Job's name ends in a hash of everything it depends on.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.payload.talk.termination import EXIT_RETRY
from aks_infiniband.validation.pool_expectations import promised_labels
from aks_infiniband.validation.program import HOME, PACKAGE, PAYLOAD_MOUNT, PYTHON_ENVIRONMENT
from aks_infiniband.workload.pods import config_map_name, config_maps

_SHARED: Final = "/var/lib/aks-infiniband"
LIMITS: Final = f"{_SHARED}/limits.json"
"""File in which the init container leaves its limits, for the container."""
SHARED_MOUNT: Final = {"name": "shared", "mountPath": _SHARED}
PODINFO: Final = "/etc/podinfo"
"""Folder in which a pod finds its own annotations as files."""
PODINFO_MOUNT: Final = {"name": "podinfo", "mountPath": PODINFO, "readOnly": True}

_NOBODY: Final = 65534
_TERMINATION_LOG: Final = "/dev/termination-log"
_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
API_ARGUMENTS: Final = (
    *("--termination-log", _TERMINATION_LOG),
    *("--token", f"{_ACCOUNT}/token", "--ca", f"{_ACCOUNT}/ca.crt"),
)
"""The path of the termination message for the kubelet, and the paths of the service account's credentials."""
_IDENTITY: Final = {
    "NODE_NAME": "spec.nodeName",
    "POD_UID": "metadata.uid",
    "POD_IP": "status.podIP",
    "JOB_UID": "metadata.labels['batch.kubernetes.io/controller-uid']",
}
"""Variables with a pod's identity, by field."""
_MARGIN_SECONDS: Final = 60
"""Seconds after the provider at which the Job itself gives up. The Job's deadline deletes the pods, and the diagnosis
of a failed wait has to see them first. Whatever happens to a pod starts the provider's time-out again, but not the
deadline. If the deadline comes first, only the scheduler's words on the pods are left (diagnosis/pods.py).
"""


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
    """Eight hexadecimal digits, which change when any of the JSON-able parts changes."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


_OWN: Final = ("pool", "node_count")


def own_of(expected: Expectations) -> dict[str, Any]:
    """The keys that differ between pools of one kind; they may share a file with all else."""
    return {name: value for name, value in expected.items() if name in _OWN}


def common_file(expected: Expectations) -> tuple[str, str]:
    """The expectations of every pool of this kind, as a key of the program's ConfigMap and its text.

    The text is there once, not in the Job of each pool, because the engine's state has three copies of a Job.
    """
    common = {name: value for name, value in expected.items() if name not in _OWN}
    return f"expectations-{digest(common)}.json", json.dumps(common)


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


def indexed_job(pool: Pool, template: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
    """JobSpec with a pod for each node of the pool. The wait for it lasts this number of seconds.

    The first failure that counts ends the Job, because a second try would give the same verdict. A pod that was
    evicted, or could not do its work, does not count. (A backoff limit with the action FailJob for a verdict would end
    the Job with the reason PodFailurePolicy. The Kubernetes provider 4.27.0 does not take that for a failure, and waits
    on.)
    """
    retried = {"operator": "In", "values": [EXIT_RETRY]}  # of either container
    return {
        "activeDeadlineSeconds": math.ceil(seconds) + _MARGIN_SECONDS,
        "completionMode": "Indexed",
        "completions": pool.node_count,
        "parallelism": pool.node_count,
        "template": template,
        "backoffLimit": 0,
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onExitCodes": retried},
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
    }


MEASURING_MEMORY: Final = "1Gi"
"""Memory limit of a container that measures. Up to 8 HCAs have a client and a server each, and perftest has two buffers
of 8 MiB in each of them: 256 MiB. Some 10 MiB more for each of these programs are assumed, and the payload takes 110.
"""


def container(name: str, image: str, *, memory: str = "512Mi", python: bool = True) -> dict[str, Any]:
    """The fields of a container that runs the payload's module of that name.

    python: whether the image has Python; else it is installed first, and the container has to run as root.
    """
    first = ["python3", "-m"] if python else ["sh", f"{HOME}/with_python.sh", image, _TERMINATION_LOG]
    return {
        "name": name,
        "image": image,
        "command": [*first, f"{PACKAGE}.{name.replace('-', '_')}"],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": memory}},
        "terminationMessagePath": _TERMINATION_LOG,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def pod_environment(pool: Pool, *more: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Environment of a pod that measures: the pool's workload settings, the path of the payload, and the pod's
    identity.
    """
    settings = config_maps(pool)[config_map_name(pool.name)]
    return [
        *({"name": name, "value": value} for name, value in settings.items()),
        *map(dict, more),
        *PYTHON_ENVIRONMENT,
        *({"name": name, "valueFrom": {"fieldRef": _field(path)}} for name, path in _IDENTITY.items()),
    ]


def node_selector_text(pool: Pool) -> str:
    """The pool's nodes as a label selector of the API."""
    return ",".join(f"{key}={value}" for key, value in sorted(pool.node_selector.items()))


def _field(path: str) -> dict[str, str]:
    """A field of the pod, for the downward API."""
    return {"apiVersion": "v1", "fieldPath": path}


def podinfo_volume(files: Mapping[str, str]) -> dict[str, Any]:
    """Volume with annotations of the pod.

    files: file name to the annotation's key.
    """
    items = [{"path": path, "fieldRef": _field(f"metadata.annotations['{key}']")} for path, key in files.items()]
    return {"name": "podinfo", "downwardAPI": {"items": items}}


def await_nodes_container(pool: Pool, *, waits: Waits, image: str) -> dict[str, Any]:
    """A container that ends well once every node of the pool is Ready and has offered for a while what the pool
    promises.

    The operators report ready before every node offers its resources, so no pod looks at its own node before all nodes
    have offered them for a while. The container holds no device: a pod's effective request is the larger of its init
    containers' and its containers'.
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
            *API_ARGUMENTS,
        ],
        "env": PYTHON_ENVIRONMENT,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [PAYLOAD_MOUNT, SHARED_MOUNT],
    }
