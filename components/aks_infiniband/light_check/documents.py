"""The scheduled check as plain documents: CronJobs, the exporter of the figures, and what its account may do."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.modes import RDMA_SHARED_RESOURCE
from aks_infiniband.facts.pool import Pool, tolerated
from aks_infiniband.facts.versions import VALIDATION_IMAGE
from aks_infiniband.hosts.node_daemon import SMALL, UNPRIVILEGED
from aks_infiniband.operators.nic_policy import PODS_PER_NODE
from aks_infiniband.resources.admission import METADATA_STAYS, limit, of_account
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.host_counters import Unread, counter_arguments, counter_mounts, counter_volumes
from aks_infiniband.validation.job_parts import (
    API_ARGUMENTS,
    MEASURING_MEMORY,
    PODINFO,
    PODINFO_MOUNT,
    container,
    indexed_job,
    node_selector_text,
    pod_environment,
    podinfo_volume,
)
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.program import (
    LIGHT_CHECK,
    PACKAGE,
    PAYLOAD_MOUNT,
    PYTHON_ENVIRONMENT,
    payload_files,
    program_volume,
)
from aks_infiniband.validation.reports import CONDITION, EVENT_REASONS, EVENTS_OF_NODES, board_names
from aks_infiniband.validation.reports import LIGHT_CHECK as EVENT_SOURCE
from aks_infiniband.validation.validation_job import METADATA, security_context
from aks_infiniband.workload.claims import CLAIM
from aks_infiniband.workload.pods import one_pod_a_machine, pod_template_fragment

NAME: Final = "light-check"
"""Name of the account, of the ConfigMap with the program, of the exporter, and of the objects that are in no namespace,
which have the namespace's before it."""
PORT: Final = 9478
"""The port on which the exporter serves /metrics."""
PRIORITY: Final = -1000
"""Priority of the check's pods: a workload, which has 0, takes a node from them at once. Below -10 the cluster
autoscaler makes no node for a pod that is Pending (kubernetes/autoscaler, FAQ, expendable-pods-priority-cutoff).
"""
_EXPECTATIONS: Final = "expectations.json"
_ANNOTATION: Final = f"aks-infiniband/{_EXPECTATIONS}"
_COME_SECONDS: Final = 60
"""Time for the first pods to wait for those of other idle nodes."""
_MEASURE_SECONDS: Final = 240
_RUN_SECONDS: Final = 840
"""Seconds of a whole run, with pulling the image and installing the tools that it lacks."""
_TRIES: Final = 2
_KEEP_SECONDS: Final = 600
"""An ended Job stays for so long: shorter than the 15 minutes after which kubernetes-mixin's KubeJobFailed reports a
Job that found no idle node."""
_START_SECONDS: Final = 600
"""A run is left out if it could not begin within this time of its schedule."""
_OTHERS: Final = f".status.conditions.filter(c, c.type != '{CONDITION}')"
_REPORTS: Final = "/var/lib/aks-infiniband/reports"
_RECORD: Final = "/var/lib/aks-infiniband/record"


def report_name(pool: Pool) -> str:
    """Name of the ConfigMap in which a run's pods meet, and which holds what the last checks of a pool have found."""
    return f"{pool.name}-{NAME}"


def boards(pool: Pool) -> list[str]:
    """That ConfigMap, and the further ones in which the pods of a large pool meet."""
    return board_names(report_name(pool), pool.node_count)


def pool_labels(pool: Pool) -> dict[str, str]:
    """Labels of what belongs to one pool's check."""
    return {**labels(NAME, "check"), "app.kubernetes.io/instance": pool.name}


def idle_node(pool: Pool) -> dict[str, str]:
    """The extended resources that only an idle node has free: all GPUs, and all that its RDMA device plugin offers. In
    mode dra the pod claims every HCA.
    """
    shared = {RDMA_SHARED_RESOURCE: PODS_PER_NODE} if pool.rdma_resource == RDMA_SHARED_RESOURCE else {}
    return {name: str(count) for name, count in {**pool.promised_resources, **shared}.items()}


def program_of_the_check() -> dict[str, Any]:
    """The volume with the program."""
    return program_volume(NAME, payload_files(light_check=True))


def cron_job_spec(
    pool: Pool,
    *,
    schedule: str,
    namespace: str,
    given: Mapping[str, GivenThreshold],
    registry: Registry,
    error_counters: Unread = "warn",
    suspended: bool = False,
) -> dict[str, Any]:
    """CronJobSpec: a run is an indexed Job with a pod for each node, and over as soon as one of them has ended well:
    those that found no idle node end with it. Needs Kubernetes 1.31 (successPolicy).

    given: thresholds of the stack file, by figure. error_counters: what a node is whose counters cannot be read.
    suspended: it begins no run before the watch has it run.
    """
    template = {"metadata": {"labels": pool_labels(pool)}, "spec": _pod_spec(pool, namespace, registry, error_counters)}
    template["metadata"]["annotations"] = {_ANNOTATION: json.dumps(_expected(pool, given, error_counters))}
    job = {
        **indexed_job(pool, template, seconds=_RUN_SECONDS),
        "successPolicy": {"rules": [{"succeededCount": 1}]},
        "ttlSecondsAfterFinished": _KEEP_SECONDS,
    }
    return {
        "schedule": schedule,
        "concurrencyPolicy": "Forbid",
        **({"suspend": True} if suspended else {}),
        "startingDeadlineSeconds": _START_SECONDS,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {"labels": pool_labels(pool)}, "spec": job},
    }


def _expected(pool: Pool, given: Mapping[str, GivenThreshold], error_counters: Unread) -> dict[str, Any]:
    """The validation's expectations, without the parts that this check does not look at."""
    return {
        **expectations(pool, given=given, tries=_TRIES, error_counters=error_counters),
        "interfaces": [],
        "collective": None,
    }


def _pod_spec(pool: Pool, namespace: str, registry: Registry, error_counters: Unread) -> dict[str, Any]:
    fragment = pod_template_fragment(pool, pull_secret=registry.pull_secret)["spec"]
    (common,) = fragment["containers"]
    own = container(NAME, registry.image(VALIDATION_IMAGE), memory=MEASURING_MEMORY)
    idle = idle_node(pool)
    claims = {"claims": [{"name": CLAIM}]} if pool.access.claims else {}
    measuring = {
        **own,
        "command": ["python3", "-m", f"{PACKAGE}.{LIGHT_CHECK}.check"],
        "args": [*_arguments(pool, namespace), *counter_arguments(error_counters), *API_ARGUMENTS],
        "env": pod_environment(pool),
        "resources": {**{kind: {**own["resources"][kind], **idle} for kind in ("requests", "limits")}, **claims},
        "securityContext": security_context(common["securityContext"]),
        "volumeMounts": [PAYLOAD_MOUNT, PODINFO_MOUNT, *counter_mounts(error_counters)],
    }
    return {
        **{key: value for key, value in fragment.items() if key != "volumes"},
        **tolerated([pool]),
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "restartPolicy": "Never",
        "priorityClassName": f"{namespace}-{NAME}",
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "affinity": {"podAntiAffinity": one_pod_a_machine(pool_labels(pool))},
        "containers": [measuring],
        "volumes": [
            program_of_the_check(),
            podinfo_volume({_EXPECTATIONS: _ANNOTATION}),
            *counter_volumes(error_counters),
        ],
    }


def _arguments(pool: Pool, namespace: str) -> list[str]:
    return [
        *("--namespace", namespace, "--report", report_name(pool)),
        *("--selector", node_selector_text(pool)),
        *("--expectations", f"{PODINFO}/{_EXPECTATIONS}", "--mode", "warn", "--poll-seconds", "1"),
        *("--timeout-seconds", f"{_COME_SECONDS}", "--measure-seconds", f"{_MEASURE_SECONDS}"),
        *("--scratch", "/tmp", "--sys", "/sys", "--dev", "/dev", "--proc", "/proc", "--shm", "/dev/shm"),  # noqa: S108 not files of ours
        *("--metadata", METADATA),
    ]


def exporter_spec(pools: Sequence[Pool], registry: Registry) -> dict[str, Any]:
    """DeploymentSpec of the exporter, which reads mounted reports and may do nothing in the cluster or on its node."""
    described = labels(NAME, "exporter")
    read = {pool.name: report_name(pool) for pool in pools}
    mounts = [{"name": name, "mountPath": f"{_REPORTS}/{pool}", "readOnly": True} for pool, name in read.items()]
    mounts.append({"name": MACHINES.name, "mountPath": f"{_RECORD}/{MACHINES.name}", "readOnly": True})
    serving = {
        **container("exporter", registry.image(VALIDATION_IMAGE)),
        "command": ["python3", "-m", f"{PACKAGE}.{LIGHT_CHECK}.exporter"],
        "args": ["--reports", _REPORTS, "--record", _RECORD, "--port", str(PORT)],
        "env": PYTHON_ENVIRONMENT,
        "ports": [{"name": "metrics", "containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": "/metrics", "port": "metrics"}},
        "resources": SMALL,
        "securityContext": UNPRIVILEGED,
        "volumeMounts": [PAYLOAD_MOUNT, *mounts],
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [serving],
        "volumes": [
            program_of_the_check(),
            *({"name": name, "configMap": {"name": name}} for name in read.values()),
            # The first command that measures makes it.
            {"name": MACHINES.name, "configMap": {"name": MACHINES.name, "optional": True}},
        ],
        **({"imagePullSecrets": registry.pull_secrets()} if registry.pull_secret else {}),
    }
    return {
        "replicas": 1,
        "selector": {"matchLabels": described},
        "template": {"metadata": {"labels": described}, "spec": pod},
    }


def rules(pools: Sequence[Pool], namespace: str) -> dict[str | None, list[Any]]:
    """The account's rules by namespace, None for the whole cluster: it reads nodes, patches their status, creates
    Events of them, reads and patches its own ConfigMaps, and reads the record of machines.
    """

    def rule(resource: str, *verbs: str, **more: Any) -> Any:
        return {"api_groups": [""], "resources": [resource], "verbs": list(verbs), **more}

    own = [board for pool in pools for board in boards(pool)]
    by_namespace = {
        None: [rule("nodes", "get", "list"), rule("nodes/status", "patch")],
        namespace: [
            rule("configmaps", "get", "patch", resource_names=own),
            rule("configmaps", "get", resource_names=[MACHINES.name]),
        ],
    }
    by_namespace.setdefault(EVENTS_OF_NODES, []).append(rule("events", "create"))
    return by_namespace


def policies(namespace: str) -> dict[str, dict[str, Any]]:
    """The specs of ValidatingAdmissionPolicies, by what their names end in.

    The check's account may change the check's own condition, and report the check's own Events, only of the node that
    its pod runs on.

    The right to patch nodes/status would otherwise be one to change labels, addresses and capacities of every node.
    """
    nodes = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes", "nodes/status"]}
    events = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["events"]}
    change = {
        "may not change a node's metadata": METADATA_STAYS,
        "may not change a node's status": "(object.status.map(k, k) + oldObject.status.map(k, k))"
        ".all(k, k == 'conditions' || object.status[?k] == oldObject.status[?k])",
        "may not change a node's other conditions": f"object{_OTHERS} == oldObject{_OTHERS}",
        "may change only a condition of the node that its pod is on": "object.metadata.name == variables.node",
    }
    about, source = "object.involvedObject", "object.?source"
    report = {
        "may report Events about its own pod's node alone": f"{about}.?kind.orValue('') == 'Node' && "
        f"{about}.?name.orValue('') == variables.node && {source}.?host.orValue('') == variables.node",
        f"names {EVENT_SOURCE} as the source of its Events": f"{source}.?component.orValue('') == '{EVENT_SOURCE}'",
        f"has only the reasons {' and '.join(EVENT_REASONS)}": f"object.?reason.orValue('') in {list(EVENT_REASONS)}",
    }
    account, who = of_account(namespace, NAME), "the scheduled check"
    return {"": limit(who, account, nodes, change), "-events": limit(who, account, events, report)}
