"""What the check's account may do in the cluster, and the policy that holds it to that."""

from collections.abc import Sequence
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.light_check.documents import NAME, report_name
from aks_infiniband.validation.reports import CONDITION, EVENTS_OF_NODES

_METADATA: Final = ["annotations", "finalizers", "labels", "ownerReferences"]
_OTHERS: Final = f".status.conditions.filter(c, c.type != '{CONDITION}')"


def rules(pools: Sequence[Pool], namespace: str) -> dict[str | None, list[Any]]:
    """The account's rules by namespace, None for the whole cluster: it reads nodes, patches their status, creates
    Events of them, and reads and patches its own ConfigMaps.
    """

    def rule(resource: str, *verbs: str, **more: Any) -> Any:
        return {"api_groups": [""], "resources": [resource], "verbs": list(verbs), **more}

    found = {
        None: [rule("nodes", "get", "list"), rule("nodes/status", "patch")],
        namespace: [rule("configmaps", "get", "patch", resource_names=list(map(report_name, pools)))],
    }
    found.setdefault(EVENTS_OF_NODES, []).append(rule("events", "create"))
    return found


def policy_spec(namespace: str) -> dict[str, Any]:
    """The spec of a ValidatingAdmissionPolicy: of a node the account may change its own condition alone.

    The right to patch nodes/status would otherwise be one to change labels, addresses and capacities of every node.
    """
    forbidden = {
        "metadata": f"{_METADATA}.all(k, object.metadata[?k] == oldObject.metadata[?k])",
        "status": "(object.status.map(k, k) + oldObject.status.map(k, k))"
        ".all(k, k == 'conditions' || object.status[?k] == oldObject.status[?k])",
        "other conditions": f"object{_OTHERS} == oldObject{_OTHERS}",
    }
    nodes = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["nodes", "nodes/status"]}
    account = f"request.userInfo.username == 'system:serviceaccount:{namespace}:{NAME}'"
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [nodes]},
        "matchConditions": [{"name": "account", "expression": account}],
        "validations": [
            {"expression": same, "message": f"the scheduled check may not change a node's {what}"}
            for what, same in forbidden.items()
        ],
    }
