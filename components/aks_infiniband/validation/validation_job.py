"""The validation as a plain document: an indexed Job with one pod on every node of a pool."""

from typing import Any, Final

from aks_infiniband.pool import Pool
from aks_infiniband.settings import Readiness, ValidationSettings
from aks_infiniband.validation.init_container import await_nodes_container
from aks_infiniband.validation.job import (
    EXPECTATIONS_KEY,
    HOME,
    api_arguments,
    container,
    from_field,
    job_limits,
    payload_mount,
    payload_volume,
    pool_labels,
    python_environment,
    report_name,
    validation_name,
)
from aks_infiniband.workload import config_map_name, pod_template_fragment

_LINGER_SECONDS: Final = 30


def validation_spec(
    pool: Pool, *, settings: ValidationSettings, readiness: Readiness, namespace: str
) -> dict[str, Any]:
    """JobSpec of the validation: one pod on each node of the pool, with all the node's accelerators and RDMA.

    The Job is waited for as long as the nodes may take to be ready and the validation may take then. Where the nodes
    never offer a resource, the pods stay Pending until then, and show it.
    """
    fragment = pod_template_fragment(pool, config_map=config_map_name(pool.name), container="validate")["spec"]
    common = fragment["containers"][0]
    own = container("validate", settings.image)
    resources = {kind: {**own["resources"][kind], **common["resources"][kind]} for kind in ("requests", "limits")}
    pod_container = {
        **common,
        **own,
        "args": [
            "--namespace",
            namespace,
            "--report",
            report_name(pool),
            "--expectations",
            f"{HOME}/{EXPECTATIONS_KEY}",
            "--mode",
            settings.mode,
            "--poll-seconds",
            f"{readiness.poll_seconds:g}",
            *_waiting(settings, readiness),
            *("--sys", "/sys", "--dev", "/dev", "--proc", "/proc", "--shm", "/dev/shm"),  # noqa: S108 not a file of ours
            *api_arguments(),
        ],
        "env": [
            *python_environment(),
            from_field("NODE_NAME", "spec.nodeName"),
            from_field("JOB_UID", "metadata.labels['batch.kubernetes.io/controller-uid']"),
        ],
        "resources": resources,
        "securityContext": {
            "runAsUser": 0,  # for any other user IPC_LOCK does nothing
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], **common["securityContext"]["capabilities"]},
        },
        "volumeMounts": [*common["volumeMounts"], payload_mount()],
    }
    return {
        **job_limits(readiness.timeout_seconds + settings.timeout_seconds),
        "completionMode": "Indexed",
        "completions": pool.node_count,
        "parallelism": pool.node_count,
        "template": {
            "metadata": {"labels": pool_labels(pool, "validate")},
            "spec": {
                **fragment,
                "serviceAccountName": validation_name(pool),
                "restartPolicy": "Never",
                "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                "affinity": {"podAntiAffinity": _one_per_node(pool)},
                "initContainers": [await_nodes_container(pool, readiness=readiness, image=settings.image)],
                "containers": [pod_container],
                "volumes": [*fragment["volumes"], payload_volume(pool)],
            },
        },
    }


def _waiting(settings: ValidationSettings, readiness: Readiness) -> list[str]:
    """How long the pods wait for each other, from the end of their init containers on.

    A report that names the absent is left well before the provider gives up. In mode enforce the Job fails only after
    that: its end would delete the pods that show why somebody is absent.
    """
    seconds = settings.timeout_seconds
    waits = max(seconds / 2, seconds - 60)
    linger = readiness.timeout_seconds + seconds - waits + _LINGER_SECONDS if settings.mode == "enforce" else 0
    return ["--timeout-seconds", f"{waits:g}", "--linger-seconds", f"{linger:g}"]


def _one_per_node(pool: Pool) -> dict[str, Any]:
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": pool_labels(pool, "validate")},
            }
        ]
    }
