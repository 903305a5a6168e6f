"""The objects of a run in the cluster, as plain documents: the deployed Job on other nodes, and the objects that its
pods fill.

The Job owns all the rest, and goes by itself an hour after its end: whatever becomes of this command, nothing stays.
"""

import copy
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aks_infiniband.validation.access_documents import RBAC, may_fill
from aks_infiniband.validation.program import EXPECTATIONS_ANNOTATION
from aks_infiniband.validation.reports import ACCEPTED_KEY, Accepted, board_names

from aks_infiniband_cli.validate.deployed import Deployed, Object

MANAGER: Final = "aks-infiniband-validate"
"""The manager that the labels of everything here name."""
_HOST: Final = "kubernetes.io/hostname"
_LEFT_SECONDS: Final = 3600
_OF_THE_CONTROLLER: Final = tuple(
    f"{prefix}{name}" for prefix in ("", "batch.kubernetes.io/") for name in ("controller-uid", "job-name")
)
"""Labels that the Job controller puts on a Job's template, and refuses on a new one."""
_KEPT: Final = ("activeDeadlineSeconds", "backoffLimit", "completionMode", "podFailurePolicy")


def _token() -> str:
    return secrets.token_hex(4)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One measurement of some nodes of one pool."""

    validation: Deployed
    nodes: Sequence[Object]
    expected: Mapping[str, Any]
    """The expectations by which they are judged."""
    before: Accepted | None
    """The figures for the comparison."""
    awaited: Sequence[Object] | None = None
    """The nodes that have to be as the pool promises before anything is measured; None means all."""
    tolerations: Sequence[Mapping[str, str]] = ()
    """Tolerations of its pods, in addition to the deployed ones: a node in quarantine has a taint."""
    by: str = "validate"
    """The command that measures, for the record of the machines."""
    token: str = field(default_factory=_token)
    """The token that distinguishes it from other runs."""

    @property
    def name(self) -> str:
        """Name of the Job, and prefix of all other names."""
        return f"{self.validation.pool}-again-{self.token}"

    @property
    def report(self) -> str:
        """Name of the ConfigMap in which the pods meet and report."""
        return f"{self.name}-report"


def job(run: Run) -> dict[str, Any]:
    """The Job, without a pod yet: they start when all else is there.

    The Job is not suspended: such a Job lacks a deadline, and would stay for ever if this command is killed before it
    lets the pods start.
    """
    deployed = run.validation.job
    spec = {key: deployed["spec"][key] for key in _KEPT if key in deployed["spec"]}
    template = copy.deepcopy(dict(run.validation.template))
    metadata, pod = template["metadata"], template["spec"]
    template["metadata"] = {
        # The manager's label stays, because these labels keep two pods of a pool off one machine.
        "labels": {key: value for key, value in metadata["labels"].items() if key not in _OF_THE_CONTROLLER},
        "annotations": {**metadata["annotations"], EXPECTATIONS_ANNOTATION: json.dumps(run.expected)},
    }
    affinity = pod.get("affinity") or {}
    pod["affinity"] = {**affinity, "nodeAffinity": _only(affinity, _hosts(run.nodes))}
    if run.tolerations:
        pod["tolerations"] = [*(pod.get("tolerations") or []), *map(dict, run.tolerations)]
    (awaiting,), (validating,) = pod["initContainers"], pod["containers"]
    # No other node of the pool is waited for. And if one does not report, no pod waits for the sake of an update.
    awaited = run.nodes if run.awaited is None else run.awaited
    _set(awaiting["args"], {"--selector": f"{_HOST} in ({','.join(_hosts(awaited))})", "--nodes": str(len(awaited))})
    _set(validating["args"], {"--report": run.report, "--mode": "warn", "--linger-seconds": "0"})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": run.name,
            "namespace": run.validation.namespace,
            "labels": _managed(deployed["metadata"]["labels"]),
        },
        "spec": {
            **spec,
            "completions": len(run.nodes),
            "parallelism": 0,
            "ttlSecondsAfterFinished": _LEFT_SECONDS,
            "template": template,
        },
    }


def belongings(run: Run, uid: str) -> list[dict[str, Any]]:
    """The objects of the Job with this uid: the ConfigMaps that pods fill, and the right to."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": run.name, "uid": uid, "blockOwnerDeletion": True}

    def metadata(name: str) -> dict[str, Any]:
        return {
            "name": name,
            "namespace": run.validation.namespace,
            "labels": _managed(run.validation.job["metadata"]["labels"]),
            "ownerReferences": [owner],
        }

    account = {"kind": "ServiceAccount", "name": run.validation.template["spec"]["serviceAccountName"]}
    before = {ACCEPTED_KEY: json.dumps(run.before)} if run.before else {}
    boards = board_names(run.report, len(run.nodes))
    rbac = f"{RBAC}/v1"
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(run.report), "data": before},
        *({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(board)} for board in boards[1:]),
        {
            "apiVersion": rbac,
            "kind": "Role",
            "metadata": metadata(run.name),
            "rules": [may_fill(boards)],
        },
        {
            "apiVersion": rbac,
            "kind": "RoleBinding",
            "metadata": metadata(run.name),
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": run.name},
            "subjects": [{**account, "namespace": run.validation.namespace}],
        },
    ]


def _managed(labels: Mapping[str, str]) -> dict[str, str]:
    return {**labels, "app.kubernetes.io/managed-by": MANAGER}


def _hosts(nodes: Sequence[Object]) -> list[str]:
    return [str(node["metadata"]["labels"][_HOST]) for node in nodes]


def _only(affinity: Object, hosts: Sequence[str]) -> dict[str, Any]:
    """The nodeAffinity of a pod, of these hosts alone."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    before = affinity.get("nodeAffinity") or {}
    terms = (before.get(required) or {}).get("nodeSelectorTerms") or [{}]
    ours = {"key": _HOST, "operator": "In", "values": list(hosts)}
    return {
        **before,
        required: {
            "nodeSelectorTerms": [
                {**term, "matchExpressions": [*(term.get("matchExpressions") or []), ours]} for term in terms
            ]
        },
    }


def _set(arguments: list[str], values: Mapping[str, str]) -> None:
    """Give flags of a command line other values."""
    for flag, value in values.items():
        arguments[arguments.index(flag) + 1] = value
