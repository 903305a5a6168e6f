"""The validation as a plain document: an indexed Job with one pod on every node of a pool."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.facts.pool import Pool, tolerated
from aks_infiniband.facts.versions import NCCL_IMAGE, RCCL_IMAGE, VALIDATION_IMAGE
from aks_infiniband.resources.options import Waits
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.host_counters import counter_arguments, counter_mounts, counter_volumes
from aks_infiniband.validation.job_parts import (
    API_ARGUMENTS,
    LIMITS,
    MEASURING_MEMORY,
    PODINFO,
    PODINFO_MOUNT,
    SHARED_MOUNT,
    await_nodes_container,
    common_file,
    container,
    indexed_job,
    own_of,
    pod_environment,
    podinfo_volume,
    pool_labels,
    report_name,
)
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.program import (
    EXPECTATIONS,
    EXPECTATIONS_ANNOTATION,
    HOME,
    PAYLOAD_MOUNT,
    payload_files,
    program_volume,
)
from aks_infiniband.workload.pods import (
    NAMESPACE,
    TOPOLOGY_KEY,
    one_pod_a_machine,
    pod_template_fragment,
)

_SHARED_VOLUME: Final = {"name": "shared", "emptyDir": {"sizeLimit": "1Mi"}}
"""The volume in which the init container leaves what the container reads."""
_LINGER_SECONDS: Final = 30
_REPORT_SECONDS: Final = 60
"""Seconds that are left at the end for judging, and for writing the report."""
_TO_INSTALL: Final = ("CHOWN", "DAC_OVERRIDE", "FOWNER")
"""Capabilities with which a package manager gives files their owner and mode. The payload needs them to install the
RDMA tools that its image lacks.
"""
_WITHOUT_PYTHON: Final = frozenset({NCCL_IMAGE, RCCL_IMAGE})
_COLLECTIVE_RESOURCES: Final = {"requests": {"cpu": "8", "memory": "32Gi"}}
"""Memory request for each GPU: it has one process, which is assumed to take 2 to 4 GiB. A limit is absent, because it
would also count NCCL's memory in /dev/shm.
"""
METADATA: Final = "http://169.254.169.254/metadata/instance/compute?api-version=2021-02-01"
"""The address from which a machine reads Azure's facts on it (Azure Instance Metadata Service). Pods reach it unless
the cluster's podLinkLocalAccess is None, which is a preview, or a network policy is in the way.
"""
_ATTACHMENTS: Final = "network-status"
"""File in which a pod of mode ipoib finds what networks it has joined."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolAccess:
    """Names of what the pods of a pool's validation find in their namespace (ValidationAccess)."""

    namespace: str
    account: str
    """Name of the account, and of the ConfigMap with the program."""
    topology: str | None = None
    """Key of the NCCL topology in that ConfigMap; None without one."""
    common: Collection[str] = ()
    """Keys of what is expected of pools of a kind, in that ConfigMap."""
    networks_in: str = NAMESPACE
    """Namespace of the pool's IPoIB networks."""


def validation_spec(
    pool: Pool,
    *,
    options: ValidationOptions,
    waits: Waits,
    access: PoolAccess,
    expected: Expectations,
    registry: Registry = Registry(),  # noqa: B008 frozen
) -> dict[str, Any]:
    """JobSpec of the validation: one pod on each node of the pool, with all the node's accelerators and RDMA.

    The Job is waited for as long as the nodes may take to be ready and the validation may take then. If the nodes never
    offer a resource, the pods stay Pending until then, and show it. expected: the promises of the pool. registry: the
    source of images.
    """
    fragment = pod_template_fragment(
        pool,
        topology=access.topology,
        pull_secret=registry.pull_secret,
        network_namespace=access.networks_in,
        container="validate",
    )
    awaits, measures = pod_images(pool, options)
    common = fragment["spec"]
    own = container(
        "validate", registry.image(measures), memory=MEASURING_MEMORY, python=measures not in _WITHOUT_PYTHON
    )
    told, elsewhere = _told(expected, access)
    arguments = _arguments(pool, options, waits, access.namespace, common=elsewhere)
    spec = {
        **{**common, **tolerated([pool])},
        "serviceAccountName": access.account,
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {**common.get("affinity", {}), "podAntiAffinity": one_pod_a_machine(pool_labels(pool, "validate"))},
        "initContainers": [await_nodes_container(pool, waits=waits, image=registry.image(awaits))],
        "containers": [_container(pool, common["containers"][0], own, arguments, options)],
        "volumes": [
            *_workload_volumes(common, access),
            program_volume(access.account, [*payload_files(), *elsewhere]),
            *(_SHARED_VOLUME, _podinfo(pool)),
            *counter_volumes(options.error_counters),
        ],
    }
    promised = {EXPECTATIONS_ANNOTATION: json.dumps(told)}
    annotations = {**fragment.get("metadata", {}).get("annotations", {}), **promised}
    template = {"metadata": {"labels": pool_labels(pool, "validate"), "annotations": annotations}, "spec": spec}
    return indexed_job(pool, template, seconds=waits.timeout_seconds + options.timeout_seconds)


def _workload_volumes(common: Mapping[str, Any], access: PoolAccess) -> list[dict[str, Any]]:
    """A workload's volumes, except for the topology, which comes from the access's ConfigMap."""
    shared = {"configMap": {"name": access.account, "items": [{"key": access.topology, "path": TOPOLOGY_KEY}]}}
    return [{**volume, **(shared if volume["name"] == "topology" else {})} for volume in common["volumes"]]


def _told(expected: Expectations, access: PoolAccess) -> tuple[Mapping[str, Any], list[str]]:
    """The expectations that the Job itself states, and the file with the rest, if there is one."""
    common, _ = common_file(expected)
    return (own_of(expected), [common]) if common in access.common else (expected, [])


def pod_images(pool: Pool, options: ValidationOptions) -> tuple[str, str]:
    """The images of the init container, which has to have Python, as it may install nothing, and of the container.

    The options choose both images. By default, pools with GPUs get one that measures GPUs, and all others a small one
    with Python.
    """
    if options.image is not None:
        return options.image, options.image
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None:
        return VALIDATION_IMAGE, VALIDATION_IMAGE
    return VALIDATION_IMAGE, RCCL_IMAGE if accelerator.vendor == "amd" else NCCL_IMAGE


def _container(
    pool: Pool, common: Mapping[str, Any], own: Mapping[str, Any], arguments: Sequence[str], options: ValidationOptions
) -> dict[str, Any]:
    """The container of a workload on the pool, which runs the validation. own: the fields that the validation sets."""
    resources = own["resources"] if pool.gpu_resource is None else _COLLECTIVE_RESOURCES
    return {
        **{key: value for key, value in common.items() if key != "envFrom"},
        **own,
        "args": [*arguments, *API_ARGUMENTS],
        "env": pod_environment(pool, *common["env"]),
        "resources": {
            **common["resources"],
            **{kind: {**resources.get(kind, {}), **common["resources"][kind]} for kind in ("requests", "limits")},
        },
        "securityContext": security_context(common["securityContext"]),
        "volumeMounts": [
            *common["volumeMounts"],
            *(PAYLOAD_MOUNT, SHARED_MOUNT, PODINFO_MOUNT),
            *counter_mounts(options.error_counters),
        ],
    }


def security_context(common: Mapping[str, Any]) -> dict[str, Any]:
    """The rights of a workload's container, as root: for any other user IPC_LOCK does nothing.

    A privileged one (mode driver-only, see the workload) has every capability, and the API refuses it without the
    escalation of privileges.
    """
    if common.get("privileged"):
        return {**common, "runAsUser": 0}
    capabilities = {"drop": ["ALL"], "add": [*common["capabilities"]["add"], *_TO_INSTALL]}
    return {**common, "runAsUser": 0, "allowPrivilegeEscalation": False, "capabilities": capabilities}


def _arguments(
    pool: Pool, options: ValidationOptions, waits: Waits, namespace: str, *, common: Sequence[str]
) -> list[str]:
    return [
        *("--namespace", namespace),
        *("--report", report_name(pool)),
        *("--expectations", f"{PODINFO}/{EXPECTATIONS}"),
        *("--mode", options.mode),
        *("--poll-seconds", f"{waits.poll_seconds:g}"),
        *_waiting(options, waits),
        *("--scratch", "/tmp"),  # noqa: S108 the container's own
        *("--sys", "/sys", "--dev", "/dev", "--proc", "/proc", "--shm", "/dev/shm"),  # noqa: S108 not a file of ours
        *counter_arguments(options.error_counters),
        *("--metadata", METADATA),
        *("--limits", LIMITS),
        *(("--attachments", f"{PODINFO}/{_ATTACHMENTS}") if pool.access.networks else ()),
        *(word for file in common for word in ("--common", f"{HOME}/{file}")),
    ]


def _podinfo(pool: Pool) -> dict[str, Any]:
    """The promises of the pool, and Multus' notes on the pod about its networks.

    The information is in a volume, not a variable, because the kubelet may start a container before it has seen Multus'
    annotation, and updates a volume later.
    """
    networks = {_ATTACHMENTS: "k8s.v1.cni.cncf.io/network-status"} if pool.access.networks else {}
    return podinfo_volume({EXPECTATIONS: EXPECTATIONS_ANNOTATION, **networks})


def _waiting(options: ValidationOptions, waits: Waits) -> list[str]:
    """The time for which the pods wait for each other, from the end of their init containers on, and the time for
    measurements.

    A report that names the absent is left well before the provider gives up. In mode enforce the Job fails only after
    that: its end would delete the pods that show why a node is absent.
    """
    seconds = options.timeout_seconds
    meets = seconds / 2
    measures = meets - min(_REPORT_SECONDS, meets / 4)
    linger = waits.timeout_seconds + seconds - meets + _LINGER_SECONDS if options.mode == "enforce" else 0
    return [
        *("--timeout-seconds", f"{meets:g}"),
        *("--measure-seconds", f"{measures:g}"),
        *("--linger-seconds", f"{linger:g}"),
    ]
