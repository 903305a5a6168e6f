"""The watch as plain documents: its Deployment, what its account may do, and the policies that hold it to that."""

import json
from collections.abc import Sequence
from typing import Any, Final

from aks_infiniband.facts.managed import SCHEDULED_EVENTS
from aks_infiniband.facts.node_gate import FAULTS, NOT_MEASURED
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import VALIDATION_IMAGE
from aks_infiniband.hosts.node_daemon import SMALL, UNPRIVILEGED
from aks_infiniband.light_check.documents import NAME as CHECK
from aks_infiniband.light_check.documents import idle_node, program_of_the_check, report_name
from aks_infiniband.resources.admission import METADATA_STAYS, limit, of_account
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES, labels
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.job_parts import API_ARGUMENTS, container, node_selector_text
from aks_infiniband.validation.kept import MACHINES
from aks_infiniband.validation.program import LIGHT_CHECK, PACKAGE, PAYLOAD_MOUNT, PYTHON_ENVIRONMENT
from aks_infiniband.validation.reports import EVENTS_OF_NODES, HEEDED, WATCH_EVENT_REASONS, WATCH_SOURCE

NAME: Final = f"{CHECK}-watch"
"""Name of the account, of the Deployment, and of the ConfigMap with its notes."""
EVERY_MINUTE: Final = "* * * * *"
"""Schedule of the CronJob that the watch suspends and has run: a run begins within a minute."""
_EVERY_SECONDS: Final = 15


def now_name(pool: Pool) -> str:
    """Name of the CronJob that the watch has run."""
    return f"{report_name(pool)}-now"


def watch_spec(pools: Sequence[Pool], namespace: str, registry: Registry) -> dict[str, Any]:
    """DeploymentSpec of the watch. There is never more than one, so that no two change the same node."""
    described = labels(CHECK, "watch")
    watching = {
        **container("watch", registry.image(VALIDATION_IMAGE)),
        "command": ["python3", "-m", f"{PACKAGE}.{LIGHT_CHECK}.watch"],
        "args": [
            *("--settings", json.dumps(settings(pools, namespace)), "--every-seconds", str(_EVERY_SECONDS)),
            *API_ARGUMENTS,
        ],
        "env": PYTHON_ENVIRONMENT,
        "resources": SMALL,
        "securityContext": UNPRIVILEGED,
        "volumeMounts": [PAYLOAD_MOUNT],
    }
    pod = {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "containers": [watching],
        "volumes": [program_of_the_check()],
        **({"imagePullSecrets": registry.pull_secrets()} if registry.pull_secret else {}),
    }
    return {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": described},
        "template": {"metadata": {"labels": described}, "spec": pod},
    }


def settings(pools: Sequence[Pool], namespace: str) -> dict[str, Any]:
    """The settings of the watch (payload/light_check/watch.py, Settings)."""
    return {
        "namespace": namespace,
        "state": NAME,
        "taint": NOT_MEASURED,
        "problems": list(FAULTS),
        "maintenance": list(SCHEDULED_EVENTS),
        "spared": spared(namespace),
        "pools": [
            {
                "name": pool.name,
                "selector": node_selector_text(pool),
                "admission": pool.admission,
                "maintenance": pool.maintenance,
                "promised": {name: int(count) for name, count in idle_node(pool).items()},
                "report": report_name(pool),
                "runs": [report_name(pool), now_name(pool)],
            }
            for pool in pools
        ],
    }


def rules(pools: Sequence[Pool], namespace: str) -> dict[str | None, list[Any]]:
    """The account's rules by namespace, None for the whole cluster. Without a pool that is measured first it changes no
    node. Without one whose setting says so it reads no pod and evicts none.
    """

    def rule(group: str, resource: str, *verbs: str, **more: Any) -> Any:
        return {"api_groups": [group], "resources": [resource], "verbs": list(verbs), **more}

    now = [now_name(pool) for pool in pools]
    nodes = ("get", "list", *(("patch",) if any(pool.is_gated for pool in pools) else ()))
    owners = [rule("", "pods", "list"), rule("batch", "jobs", "get"), rule("apps", "replicasets", "get")]
    told = [*owners, rule("", "events", "create")] if any(pool.announces_maintenance for pool in pools) else []
    evicted = [rule("", "pods/eviction", "create")] if any(pool.drains for pool in pools) else []
    by_namespace = {
        None: [rule("", "nodes", *nodes), *told, *evicted],
        namespace: [
            rule("", "configmaps", "get", resource_names=[MACHINES.name, *map(report_name, pools)]),
            rule("", "configmaps", "get", "patch", resource_names=[NAME]),
            rule("batch", "cronjobs", "get", resource_names=[*map(report_name, pools)]),
            rule("batch", "cronjobs", "get", "patch", resource_names=now),
        ],
    }
    by_namespace.setdefault(EVENTS_OF_NODES, []).append(rule("", "events", "create"))
    return by_namespace


def spared(namespace: str) -> list[str]:
    """The namespaces whose pods are never evicted: they belong to the node, or manage it."""
    return sorted({"kube-system", "kube-public", "kube-node-lease", namespace, *OPERATOR_NAMESPACES})


def policies(namespace: str) -> dict[str, dict[str, Any]]:
    """The specs of ValidatingAdmissionPolicies, by the ends of their names.

    Without them the right to patch nodes would be one to let work onto every node and to change its labels, and the
    right to patch CronJobs would be one to run other pods than the program's own.
    """
    account, who = of_account(namespace, NAME), "the light check's watch"
    others = f".spec[?'taints'].orValue([]).filter(t, t.key != '{NOT_MEASURED}')"
    node = {
        "may not change a node's metadata": METADATA_STAYS,
        "may change the taints of a node alone": _alone("taints"),
        "may not change a node's other taints": f"object{others} == oldObject{others}",
    }
    job = {
        "may not change a CronJob's metadata": METADATA_STAYS,
        "may change the suspension of a CronJob alone": _alone("suspend"),
    }
    about, source = "object.involvedObject", "object.?source"
    event = {
        f"may report Events about nodes, and {HEEDED} about others": (
            f"{about}.?kind.orValue('') == 'Node' || object.?reason.orValue('') == '{HEEDED}'"
        ),
        f"names {WATCH_SOURCE} as the source of its Events": f"{source}.?component.orValue('') == '{WATCH_SOURCE}'",
        f"has the reasons {' and '.join(WATCH_EVENT_REASONS)} alone": (
            f"object.?reason.orValue('') in {list(WATCH_EVENT_REASONS)}"
        ),
    }

    def to(group: str, operation: str, *resources: str) -> dict[str, Any]:
        matched = {"apiGroups": [group], "apiVersions": ["v1"], "operations": [operation]}
        return {**matched, "resources": list(resources)}

    system = f"request.namespace in {spared(namespace)}"
    eviction = {
        "may not evict pods of Kubernetes, the operators and this program": f"!({system})",
        "may not evict a pod without a check of its uid": "object.?deleteOptions.?preconditions.?uid.hasValue()",
    }
    return {
        "": limit(who, account, to("", "UPDATE", "nodes", "nodes/status"), node),
        "-runs": limit(who, account, to("batch", "UPDATE", "cronjobs", "cronjobs/status"), job),
        "-events": limit(who, account, to("", "CREATE", "events"), event),
        "-evictions": limit(who, account, to("", "CREATE", "pods/eviction"), eviction),
    }


def _alone(field: str) -> str:
    """In CEL: one field of a spec is changed at most, and nothing of a status."""
    return (
        "(object.spec.map(k, k) + oldObject.spec.map(k, k))"
        f".all(k, k == '{field}' || object.spec[?k] == oldObject.spec[?k]) && object.?status == oldObject.?status"
    )
